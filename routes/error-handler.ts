import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import { INVALID_TOKEN, Unauthorized } from '../src/access/unauthorized.ts'
import { Busy, PlatformError } from '../src/base/errors.ts'
import type { AppEnv } from './env.ts'
import { InvalidRequest } from './validation/problem.ts'

/** Converts every error to a response. Only the text of a `PlatformError` is shown; other details are logged. */
export function onError(error: Error, c: Context<AppEnv>): Response {
  if (error instanceof InvalidRequest) return answer(c, 422, error.problems)
  if (error instanceof PlatformError) {
    if (error.status >= 500) c.var.log.error('request failed', { error, cause: error.cause })
    else if (error.cause !== undefined) c.var.log.info('request refused', { reason: error.message, cause: error.cause })
    if (error.status === 401)
      c.header('www-authenticate', error instanceof Unauthorized ? error.challenge : INVALID_TOKEN)
    if (error instanceof Busy) c.header('retry-after', String(error.retryAfterSeconds))
    return answer(c, error.status, error.message)
  }
  c.var.log.error('unexpected error', { error })
  return answer(c, 500, 'Internal Server Error')
}

/** Returns the response for an error, in the common envelope `{"detail": …}`. */
export const answer = (c: Context, status: number, detail: unknown): Response =>
  c.newResponse(JSON.stringify({ detail }), {
    status: status as StatusCode,
    headers: { 'content-type': 'application/json' },
  })
