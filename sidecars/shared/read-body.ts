import type { Context } from 'hono'
import type { z } from 'zod'
import { readStream } from '../../src/base/http.ts'
import { JsonTooLarge, parseLimitedJson } from '../../src/base/limited-json.ts'
import { problemResponse } from './problem.ts'

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
    json = parseLimitedJson(await readBytes(c, maxBytes))
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

const MAX_VIOLATIONS = 100
/** Limit of a message, which may quote the request, such as the names of all unknown keys. */
const MAX_MESSAGE = 500

function describeViolations(issues: readonly z.core.$ZodIssue[]): string {
  const listed = issues
    .slice(0, MAX_VIOLATIONS)
    .map(({ path, message }) => `${cut(['body', ...path].join('.'))}: ${cut(message)}`)
  const left = issues.length - listed.length
  return [...listed, ...(left > 0 ? [`${left} more violations are not listed`] : [])].join('; ')
}

const cut = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text)

async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw new TooLarge()
  return readStream(c.req.raw.body, maxBytes, () => new TooLarge())
}
