import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'

const REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * One log line a request and an id that ties its lines together: the caller's `X-Request-Id` when it
 * is harmless, else a new one. The query string stays out: it may hold what people searched for.
 */
export const requestLog = createMiddleware<AppEnv>(async (c, next) => {
  const given = c.req.header('x-request-id') ?? ''
  const request_id = REQUEST_ID.test(given) ? given : crypto.randomUUID()
  const started = performance.now()
  c.set('log', c.var.platform.log.with({ request_id }))
  c.header('x-request-id', request_id)
  await next()
  const quiet = c.req.path === '/healthz' || c.req.path === '/readyz'
  c.var.log[quiet ? 'debug' : 'info']('request', {
    method: c.req.method,
    path: c.req.path,
    status: c.res.status,
    ms: Math.round(performance.now() - started),
  })
})
