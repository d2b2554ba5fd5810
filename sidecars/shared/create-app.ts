import { Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import type { Logger } from '../../src/base/log.ts'
import { bearer } from './bearer.ts'
import { problemResponse } from './problem.ts'

/**
 * What every sidecar has in common: `/healthz` without token, the token before anything else
 * below `/v1`, problem documents for all that is not answered, and no text of an unknown error.
 */
export function createSidecarApp(options: { token: string; log: Logger }): Hono {
  const app = new Hono()
  app.onError((error) => unexpected(error, options.log))
  app.notFound(() => problemResponse(404, 'Not Found'))
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.use('/v1/*', bearer(options.token))
  app.use(
    '/v1/*',
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_c, methods) =>
        problemResponse(405, 'Method Not Allowed', undefined, { allow: methods.join(', ') }),
    }),
  )
  return app
}

/** For errors that a sidecar's own handler does not know either. */
export function unexpected(error: Error, log: Logger): Response {
  log.error('request failed', { error })
  return problemResponse(500, 'Internal server error')
}
