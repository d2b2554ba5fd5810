import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import { isKnownHost } from '../src/access/known-host.ts'
import { PlatformError } from '../src/base/errors.ts'
import type { AppEnv, Platform } from './env.ts'
import { onError } from './error-handler.ts'

const REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * Makes what precedes every route, as one middleware, because each of them costs every request promises of its own. It
 * assigns the id of the request, which all its log lines carry: the caller's `X-Request-Id` if it has only harmless
 * characters, otherwise a new one. It refuses unknown hosts, answers preflights, and writes one log line per request.
 * The query string is not logged, because it may contain search terms.
 */
export const createEntrance = (platform: Platform) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const started = performance.now()
    const callerId = c.req.header('x-request-id') ?? ''
    const requestId = REQUEST_ID.test(callerId) ? callerId : crypto.randomUUID()
    c.set('platform', platform)
    c.set('log', platform.log.with({ request_id: requestId }))
    const headers: Record<string, string> = {
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-request-id': requestId,
    }
    c.set('headers', headers)
    const answer = refuseUnknownHost(c, platform) ?? allowOrigin(c, platform, headers)
    if (answer) c.res = answer
    else await next()
    if (!c.get('hasHeaders')) addHeaders(c.res.headers, headers)
    const { method, path } = c.req
    const { status } = c.res
    const ms = performance.now() - started
    platform.metrics?.countRequest({ method, route: routeTemplate(c), status, seconds: ms / 1000 })
    const quiet = path === '/healthz' || path === '/readyz'
    c.get('log')[quiet ? 'debug' : 'info']('request', { method, path, status, ms: Math.round(ms) })
  })

/** Adds headers that are not there yet. Of `vary`, which routes also set, both values are kept. */
function addHeaders(target: Headers, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    const own = target.get(name)
    if (own === null) target.set(name, value)
    else if (name === 'vary') target.set(name, `${value}, ${own}`)
  }
}

/** While sign-in is off, refuses requests to names that nobody has given to the core. Health is told to everybody. */
function refuseUnknownHost(c: Context<AppEnv>, { config: { oidc, http } }: Platform): Response | null {
  const isServed = oidc.issuer_url !== '' || ['/healthz', '/readyz'].includes(c.req.path)
  if (isServed || isKnownHost(new URL(c.req.url).hostname, http.allowed_hosts)) return null
  return onError(new PlatformError('MisdirectedRequest', 421, UNKNOWN_HOST), c)
}
const UNKNOWN_HOST =
  'The platform does not serve this host name while sign-in is off. Add the name to http.allowed_hosts, or set ' +
  'oidc.issuer_url.'

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/**
 * Lets browsers of the configured origins call every route with credentials. Preflights are answered before any gate.
 * @param answerHeaders those of the answer, to which it adds
 * Returns the answer to a preflight.
 */
function allowOrigin(c: Context<AppEnv>, { config }: Platform, answerHeaders: Record<string, string>): Response | null {
  const origin = c.req.header('origin')
  if (origin === undefined) return null
  const origins = config.http.cors_origins
  const allowed = origins.includes(origin) || origins.includes('*')
  const requestedMethod = c.req.method === 'OPTIONS' ? c.req.header('access-control-request-method') : undefined
  answerHeaders.vary = 'Origin'
  answerHeaders['access-control-allow-credentials'] = 'true'
  if (allowed) answerHeaders['access-control-allow-origin'] = origin
  if (requestedMethod === undefined) return null
  if (!allowed) return c.text('Disallowed CORS origin', 400)
  if (!METHODS.includes(requestedMethod)) return c.text('Disallowed CORS method', 400)
  c.header('access-control-allow-methods', METHODS.join(', '))
  c.header('access-control-max-age', '600')
  const headers = c.req.header('access-control-request-headers')
  if (headers !== undefined) c.header('access-control-allow-headers', headers)
  return c.text('OK')
}

/** Returns the matched route's template; `unmatched` for all others, which would be an unlimited number of series. */
function routeTemplate(c: Context<AppEnv>): string {
  const known = c.get('template')
  if (known !== undefined) return known
  return (
    matchedRoutes(c)
      .findLast(({ path }) => !path.endsWith('*'))
      ?.path.replace(/^\/api(?=\/)/, '') ?? 'unmatched'
  )
}
