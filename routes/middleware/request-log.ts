import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import type { AppEnv } from '../env.ts'

const REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * One log line a request and an id that ties its lines together: the caller's `X-Request-Id` when it
 * is harmless, else a new one. The query string stays out: it may hold what people searched for.
 */
export const requestLog = createMiddleware<AppEnv>(async (c, next) => {
  const callerId = c.req.header('x-request-id') ?? ''
  const requestId = REQUEST_ID.test(callerId) ? callerId : crypto.randomUUID()
  const started = performance.now()
  c.set('log', c.var.platform.log.with({ request_id: requestId }))
  c.header('x-request-id', requestId)
  await next()
  const { method } = c.req
  const { status } = c.res
  const ms = performance.now() - started
  c.var.platform.metrics?.countRequest({ method, route: routeTemplate(c), status, seconds: ms / 1000 })
  const quiet = c.req.path === '/healthz' || c.req.path === '/readyz'
  c.var.log[quiet ? 'debug' : 'info']('request', {
    method,
    path: c.req.path,
    status,
    ms: Math.round(ms),
  })
})

/** The route that took the request, with and without `/api` alike; never a path that a caller made up. */
function routeTemplate(c: Context<AppEnv>): string {
  const route = matchedRoutes(c).findLast(({ path }) => !path.endsWith('*'))
  return route ? route.path.replace(/^\/api(?=\/)/, '') : 'unmatched'
}
