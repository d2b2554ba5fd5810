import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import { INVALID_TOKEN, Unauthorized } from '../src/access/verify-token.ts'
import { DATABASE_AWAY, PlatformError } from '../src/base/errors.ts'
import { remedyOf } from '../src/data/db/faults.ts'
import type { AppEnv } from './env.ts'
import { InvalidRequest } from './validation/problem.ts'

/** Converts every error to a response. Only the text of a `PlatformError` is shown; other details are logged. */
export function onError(error: Error, c: Context<AppEnv>): Response {
  if (error instanceof InvalidRequest) return answer(c, 422, error.problems)
  if (error instanceof PlatformError) {
    if (error.status >= 500) c.get('log').error('request failed', { error, cause: error.cause })
    else if (error.cause !== undefined)
      c.get('log').info('request refused', { reason: error.message, cause: error.cause })
    if (error.status === 401)
      c.header('www-authenticate', error instanceof Unauthorized ? error.challenge : INVALID_TOKEN)
    if (error.retryAfterSeconds !== undefined) c.header('retry-after', String(error.retryAfterSeconds))
    return answer(c, error.status, error.message, error.more)
  }
  if (remedyOf(error) !== 'give_up') {
    c.get('log').error('the database could not be used', { error })
    c.header('retry-after', String(DATABASE_RETRY_SECONDS))
    return answer(c, 503, DATABASE_AWAY)
  }
  c.get('log').error('unexpected error', { error })
  return answer(c, 500, 'Internal Server Error')
}

const DATABASE_RETRY_SECONDS = 2

/** Returns the response for an error, in the common envelope `{"detail": …}`, with the further fields of some errors. */
const answer = (c: Context, status: number, detail: unknown, more: object = {}): Response =>
  c.newResponse(JSON.stringify({ detail, ...more }), {
    status: status as StatusCode,
    headers: { 'content-type': 'application/json' },
  })

/** A path of the API with its methods. Parameters are written as `{name}`. */
export interface KnownPath {
  path: string
  methods: string[]
}

/**
 * Makes the handler of unmatched requests. A known path with another method is 405 with `Allow`; a known path with a
 * trailing slash is redirected by 307 to the form without it; anything else is 404. It never returns 401, because only
 * routes authenticate.
 */
export function onUnmatched(paths: readonly KnownPath[]) {
  const known = paths.map(({ path, methods }) => ({ pattern: patternOf(path), methods }))
  const methodsOf = (path: string) =>
    known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)
  return (c: Context<AppEnv>): Response => {
    const { path } = c.req
    const methods = methodsOf(path)
    if (methods.length > 0) {
      c.header('allow', methods.join(', '))
      return answer(c, 405, 'Method Not Allowed')
    }
    const bare = path.replace(/\/+$/, '')
    if (bare !== path && methodsOf(bare).length > 0) {
      // The path of the request is decoded, so it may have characters that are invalid in headers.
      const { pathname, search } = new URL(c.req.url)
      return c.redirect(pathname.replace(/\/+$/, '') + search, 307)
    }
    return answer(c, 404, 'Not Found')
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
