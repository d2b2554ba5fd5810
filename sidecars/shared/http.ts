import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import type { z } from 'zod'
import { readStream } from '../../src/base/http.ts'
import { JsonTooLarge, parseLimitedJson } from '../../src/base/limited-json.ts'
import type { Logger } from '../../src/base/log.ts'

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

/** The RFC 7807 document of every sidecar's errors. The message of a plain error is its title. */
export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  detail?: string
}

export const problem = (status: number, title: string, detail?: string): Problem =>
  detail === undefined ? { type: 'about:blank', title, status } : { type: 'about:blank', title, status, detail }

export function problemResponse(
  status: number,
  title: string,
  detail?: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(problem(status, title, detail)), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
}

const JSON_TYPE = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i
const invalidResponse = (detail: string) => problemResponse(422, 'Request validation failed', detail)

class TooLarge extends Error {}

/**
 * Returns the valid body, or the error response: a 422 names up to a hundred violations.
 * @param rules.maxBytes a larger body, or one with too many keys and values, gets 413
 * @param rules.unparseable the status for a body that is no JSON, in which the contracts differ
 * @param rules.typed true if the body must have a content type of JSON
 */
export async function readBody<S extends z.ZodType>(
  c: Context,
  schema: S,
  { maxBytes, unparseable = 422, typed = false }: { maxBytes: number; unparseable?: 400 | 422; typed?: boolean },
): Promise<{ ok: true; value: z.output<S> } | { ok: false; response: Response }> {
  let json: unknown
  try {
    if (typed && !JSON_TYPE.test(c.req.header('content-type') ?? '')) throw new TypeError('no JSON')
    if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw new TooLarge()
    json = parseLimitedJson(await readStream(c.req.raw.body, maxBytes, () => new TooLarge()))
  } catch (error) {
    if (error instanceof TooLarge) return { ok: false, response: problemResponse(413, 'Content Too Large') }
    if (error instanceof JsonTooLarge && error.limit === 'values')
      return { ok: false, response: problemResponse(413, 'Content Too Large', `The body ${error.message}.`) }
    const text = typed ? 'The body must be JSON with the content type application/json.' : 'The body is not valid JSON.'
    return { ok: false, response: unparseable === 422 ? invalidResponse(text) : problemResponse(unparseable, text) }
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, response: invalidResponse(describeViolations(parsed.error.issues)) }
}

/** Limit of a message, which may quote the request, such as the names of all unknown keys. */
const MAX_MESSAGE = 500

function describeViolations(issues: readonly z.core.$ZodIssue[]): string {
  const listed = issues.slice(0, 100).map(({ path, message }) => `${cut(['body', ...path].join('.'))}: ${cut(message)}`)
  const left = issues.length - listed.length
  return [...listed, ...(left > 0 ? [`${left} more violations are not listed`] : [])].join('; ')
}

const cut = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text)
