import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { AppEnv } from './env.ts'
import { signedIn } from './openapi/answers.ts'
import { SMALL_BODY } from './validation/read-body.ts'
import { validate } from './validation/validate.ts'

type Request = RouteConfig['request']
type Responses = RouteConfig['responses']
type Part<Q, K extends string> = Q extends Record<K, infer S extends z.ZodType> ? z.output<S> : undefined
type JsonContent<S> = { content: { 'application/json': { schema: S } } }

/** The validated parts of the request, typed by the schemas of the route. */
export interface Input<Q> {
  params: Part<Q, 'params'>
  query: Part<Q, 'query'>
  headers: Part<Q, 'headers'>
  body: Q extends { body: JsonContent<infer S extends z.ZodType> } ? z.output<S> : undefined
}

/** The body of the successful response, typed by the schema of the route. */
type Answer<S> = S extends
  | { 200: JsonContent<infer T extends z.ZodType> }
  | { 201: JsonContent<infer T extends z.ZodType> }
  | { 202: JsonContent<infer T extends z.ZodType> }
  ? z.input<T>
  : never

export interface Endpoint {
  route: RouteConfig
  /** Absent for a route without authentication. */
  gate: MiddlewareHandler<AppEnv> | undefined
  maxBodyBytes: number
  handler: (c: Context<AppEnv>) => Promise<Response>
}

/**
 * Makes an endpoint from its description, its gate and its handler. The gate runs before the request is validated, so
 * that a caller without access gets 401 or 403 and never 422. The handler's result is sent as JSON with the first
 * status of the description, unless it is a response already.
 */
export function endpoint<const Q extends Request, const S extends Responses>(
  definition: Omit<RouteConfig, 'request' | 'responses' | 'security'> & {
    request?: Q
    responses: S
    gate?: MiddlewareHandler<AppEnv>
    /** Largest body in bytes; default 64 KiB. */
    maxBodyBytes?: number
    handle: (c: Context<AppEnv>, input: Input<Q>) => Promise<Answer<S> | Response>
  },
): Endpoint {
  const { gate, handle, maxBodyBytes = SMALL_BODY, ...description } = definition
  const route = createRoute({ ...description, ...(gate && { security: signedIn }) })
  const [status = ''] = Object.keys(route.responses)
  return {
    route,
    gate,
    maxBodyBytes,
    async handler(c) {
      const answer = await handle(c, (await validate(route, c, maxBodyBytes)) as Input<Q>)
      if (answer instanceof Response) return answer
      c.status(Number(status) as StatusCode)
      return c.json(answer)
    },
  }
}
