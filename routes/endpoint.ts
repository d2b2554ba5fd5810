import type { RouteConfig, z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from './env.ts'
import { SMALL_BODY } from './validation/body-limits.ts'
import { validate } from './validation/validate.ts'

/** What a handler gets of a part of the request, as the schema in the route describes it. */
type Part<R, K extends string> = R extends { request: Record<K, infer S extends z.ZodType> } ? z.output<S> : undefined
type Body<R> = R extends {
  request: { body: { content: { 'application/json': { schema: infer S extends z.ZodType } } } }
}
  ? z.output<S>
  : undefined
export interface Input<R> {
  params: Part<R, 'params'>
  query: Part<R, 'query'>
  headers: Part<R, 'headers'>
  body: Body<R>
}

export interface Endpoint {
  route: RouteConfig
  gates: MiddlewareHandler<AppEnv>[]
  /** Largest body in bytes. */
  maxBodyBytes: number
  handler: (c: Context<AppEnv>) => Promise<Response>
}

/**
 * Makes an endpoint of its description, its gates in order, and its handler. The gates run before the request is
 * validated, so that a caller without access gets 401 or 403 and never 422.
 */
export function endpoint<const R extends RouteConfig>(definition: {
  route: R
  gates: MiddlewareHandler<AppEnv>[]
  /** Largest body in bytes; default 64 KiB. */
  maxBodyBytes?: number
  handle: (c: Context<AppEnv>, input: Input<R>) => Promise<Response>
}): Endpoint {
  const { route, gates, handle, maxBodyBytes = SMALL_BODY } = definition
  return {
    route,
    gates,
    maxBodyBytes,
    handler: async (c) => handle(c, (await validate(route, c, maxBodyBytes)) as Input<R>),
  }
}
