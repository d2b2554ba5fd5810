import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/**
 * Lets browsers of the configured origins call every route with credentials. Preflights are answered before any gate.
 */
export const cors = createMiddleware<AppEnv>(async (c, next) => {
  const origin = c.req.header('origin')
  if (origin === undefined) return next()
  const origins = c.var.platform.config.http.cors_origins
  const allowed = origins.includes(origin) || origins.includes('*')
  const requestedMethod = c.req.method === 'OPTIONS' ? c.req.header('access-control-request-method') : undefined
  c.header('vary', 'Origin')
  c.header('access-control-allow-credentials', 'true')
  if (allowed) c.header('access-control-allow-origin', origin)
  if (requestedMethod === undefined) return next()
  if (!allowed) return c.text('Disallowed CORS origin', 400)
  if (!METHODS.includes(requestedMethod)) return c.text('Disallowed CORS method', 400)
  c.header('access-control-allow-methods', METHODS.join(', '))
  c.header('access-control-max-age', '600')
  const headers = c.req.header('access-control-request-headers')
  if (headers !== undefined) c.header('access-control-allow-headers', headers)
  return c.text('OK')
})
