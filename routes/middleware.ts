import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import { isKnownHost } from '../src/access/known-host.ts'
import { PlatformError } from '../src/base/errors.ts'
import type { AppEnv } from './env.ts'

/** While sign-in is off, refuses requests to names that nobody has given to the core. Health is told to everybody. */
export const knownHost = createMiddleware<AppEnv>(async (c, next) => {
  const { oidc, http } = c.var.platform.config
  const isServed = oidc.issuer_url !== '' || ['/healthz', '/readyz'].includes(c.req.path)
  if (!isServed && !isKnownHost(new URL(c.req.url).hostname, http.allowed_hosts))
    throw new PlatformError('MisdirectedRequest', 421, UNKNOWN_HOST)
  await next()
})
const UNKNOWN_HOST =
  'The platform does not serve this host name while sign-in is off. Add the name to http.allowed_hosts, or set ' +
  'oidc.issuer_url.'

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

const REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * Writes one log line per request and assigns its id, which all its lines carry: the caller's `X-Request-Id` if it has
 * only harmless characters, otherwise a new one. The query string is not logged, because it may contain search terms.
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
  c.var.log[quiet ? 'debug' : 'info']('request', { method, path: c.req.path, status, ms: Math.round(ms) })
})

/** Returns the matched route's template; `unmatched` for all others, which would be an unlimited number of series. */
function routeTemplate(c: Context<AppEnv>): string {
  const route = matchedRoutes(c).findLast(({ path }) => !path.endsWith('*'))
  return route ? route.path.replace(/^\/api(?=\/)/, '') : 'unmatched'
}
