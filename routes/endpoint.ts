import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { AccessGate } from './access.ts'
import type { AppEnv } from './env.ts'
import { BODY_ERRORS, describeErrors, type ErrorAnswer, type SuccessAnswer, signedIn } from './openapi/answers.ts'
import { SMALL_BODY } from './validation/read-body.ts'
import { validate } from './validation/validate.ts'

/** The schemas of the parts of a request. The body is JSON. */
type Request = { readonly [Part in 'params' | 'query' | 'headers' | 'body']?: z.ZodObject | z.ZodType }

/** The validated parts of the request, typed by the schemas of the route. */
export type Input<Q> = {
  [Part in keyof Request]-?: Q extends Record<Part, infer S extends z.ZodType> ? z.output<S> : undefined
}

/** The body of the successful response, typed by the schema of the route. */
type Body<S> = S extends { content: { 'application/json': { schema: infer T extends z.ZodType } } } ? z.input<T> : never

export interface Endpoint {
  route: RouteConfig
  /** The template of the path, as the framework writes it: `/v1/events/subscribe/:session_id`. */
  path: string
  /** Absent for a route without authentication. */
  gate: AccessGate | undefined
  maxBodyBytes: number
  /** Runs the gate too. */
  handler: (c: Context<AppEnv>) => Promise<Response>
}

/**
 * Makes an endpoint from its description, its gate and its handler. The gate runs before the request is validated, so
 * that a caller without access gets 401 or 403 and never 422. The handler's result is sent as JSON with the status of
 * `answer`, unless it is a response already. The errors of the gate, of the validation, 421, 500 and 503 need not be listed.
 */
export function endpoint<const Q extends Request, const S extends SuccessAnswer>(
  definition: Omit<RouteConfig, 'request' | 'responses' | 'security'> & {
    request?: Q
    answer: S
    /** Further errors: a number takes the general description of that status. */
    errors?: readonly (number | ErrorAnswer)[]
    gate?: AccessGate
    /** Largest body in bytes; default 64 KiB. */
    maxBodyBytes?: number
    handle: (c: Context<AppEnv>, input: Input<Q>) => Promise<Body<S> | Response>
  },
): Endpoint {
  const { gate, handle, maxBodyBytes = SMALL_BODY, request, answer, errors = [], ...description } = definition
  const { status, ...success } = answer
  const { body, ...parts } = request ?? {}
  const invalid = body ? BODY_ERRORS : request ? [422] : []
  const route = createRoute({
    ...description,
    ...(request && {
      request: {
        ...(parts as RouteConfig['request']),
        ...(body && { body: { required: true, content: { 'application/json': { schema: body } } } }),
      },
    }),
    responses: { [status]: success, ...describeErrors([...(gate?.errors ?? []), ...invalid, ...errors]) },
    ...(gate && { security: signedIn }),
  })
  const path = route.getRoutingPath()
  return {
    route,
    path,
    gate,
    maxBodyBytes,
    async handler(c) {
      // For HEAD the framework runs the handler of GET, but the API has no HEAD.
      if (c.req.method === 'HEAD') return c.notFound()
      c.set('template', path)
      await gate?.check(c)
      const result = await handle(c, (await validate(route, c, maxBodyBytes)) as Input<Q>)
      if (result instanceof Response) return result
      return answerJson(c, status, result)
    },
  }
}

/** Makes an answer from plain headers. `c.json` makes a `Headers` of them, and a `Response` that is read as a stream. */
function answerJson(c: Context<AppEnv>, status: number, body: unknown): Response {
  const { Response: Answer = Response } = c.get('platform')
  const headers = c.get('headers')
  headers['content-type'] = 'application/json'
  const answer = new Answer(JSON.stringify(body), { status, headers })
  c.set('hasHeaders', true)
  return answer
}
