import { Hono, type MiddlewareHandler } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import type { Logger } from '../../src/base/log.ts'
import { problemResponse } from './problem.ts'

/** Creates the common part of all sidecars. Under `/v1` the token comes first; unknown errors stay hidden. */
export function createSidecarApp(options: { token: string; log: Logger }): Hono {
  const app = new Hono()
  app.onError((error) => answerUnexpected(error, options.log))
  app.notFound(() => problemResponse(404, 'Not Found'))
  const refuseMethod = methodNotAllowed({
    app,
    onMethodNotAllowed: (_c, methods) =>
      problemResponse(405, 'Method Not Allowed', undefined, { allow: methods.join(', ') }),
  })
  app.use('/healthz', refuseMethod)
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.use('/v1/*', requireBearer(options.token))
  app.use('/v1/*', refuseMethod)
  return app
}

/** Logs and answers an error that the sidecar's own handler does not know. */
export function answerUnexpected(error: Error, log: Logger): Response {
  log.error('request failed', { error })
  return problemResponse(500, 'Internal server error')
}

const unauthorized = (title: string) => problemResponse(401, title, undefined, { 'www-authenticate': 'Bearer' })

/** Requires `Authorization: Bearer <expected>`; a blank expected token accepts every request. */
export function requireBearer(expected: string): MiddlewareHandler {
  return async (c, next) => {
    if (!expected) return next()
    const presented = /^bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (presented === undefined) return unauthorized('Missing or malformed bearer credentials.')
    if (!(await isSameSecret(presented, expected))) return unauthorized('Invalid bearer token.')
    return next()
  }
}

/** Compares digests, so that the duration reveals neither the length nor a correct beginning. */
async function isSameSecret(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all(
    [a, b].map((text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))),
  )
  const x = new Uint8Array(left as ArrayBuffer)
  const y = new Uint8Array(right as ArrayBuffer)
  let difference = 0
  for (let i = 0; i < x.length; i++) difference |= (x[i] as number) ^ (y[i] as number)
  return difference === 0
}
