import type { RouteConfig, z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from './env.ts'
import { validate } from './validation/validate.ts'

/** The schemas of a route, read from its description. */
type Part<R, K extends string> = R extends { request: Record<K, infer S extends z.ZodType> } ? z.output<S> : undefined
type Body<R> = R extends {
  request: { body: { content: { 'application/json': { schema: infer S extends z.ZodType } } } }
}
  ? z.output<S>
  : undefined
export interface Input<R> {
  params: Part<R, 'params'>
  query: Part<R, 'query'>
  body: Body<R>
}

export interface Endpoint {
  route: RouteConfig
  gates: MiddlewareHandler<AppEnv>[]
  handler: (c: Context<AppEnv>) => Promise<Response>
}

/**
 * One endpoint: its description, its gates in order, and its handler. The gates run before anything
 * of the request is validated, so that 401 and 403 come before 422.
 */
export function endpoint<const R extends RouteConfig>(definition: {
  route: R
  gates: MiddlewareHandler<AppEnv>[]
  handle: (c: Context<AppEnv>, input: Input<R>) => Promise<Response>
}): Endpoint {
  const { route, gates, handle } = definition
  return { route, gates, handler: async (c) => handle(c, (await validate(route, c)) as Input<R>) }
}
