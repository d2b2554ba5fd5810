import type { Context } from 'hono'
import type { z } from 'zod'
import { readStream } from '../../src/base/http.ts'
import { problemResponse } from './problem.ts'

const JSON_TYPE = /^application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i
const invalidResponse = (detail: string) => problemResponse(422, 'Request validation failed', detail)

class TooLarge extends Error {}

/**
 * Reads the body and checks it against the schema. Answers the value, or the response that says what is wrong: a 422
 * names every violation.
 * @param rules.maxBytes a larger body is refused with 413, whether it announces its length or not
 * @param rules.unparseable the status for a body that is no JSON at all, in which the contracts differ
 * @param rules.typed true when the body must have a content type of JSON
 */
export async function readBody<S extends z.ZodType>(
  c: Context,
  schema: S,
  { maxBytes, unparseable = 422, typed = false }: { maxBytes: number; unparseable?: 400 | 422; typed?: boolean },
): Promise<{ ok: true; value: z.output<S> } | { ok: false; response: Response }> {
  let json: unknown
  try {
    if (typed && !JSON_TYPE.test(c.req.header('content-type') ?? '')) throw new TypeError('no JSON')
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readBytes(c, maxBytes)))
  } catch (error) {
    if (error instanceof TooLarge) return { ok: false, response: problemResponse(413, 'Content Too Large') }
    const text = typed ? 'The body must be JSON with the content type application/json.' : 'The body is not valid JSON.'
    return { ok: false, response: unparseable === 422 ? invalidResponse(text) : problemResponse(unparseable, text) }
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return { ok: true, value: parsed.data }
  const violations = parsed.error.issues.map((issue) => `${['body', ...issue.path].join('.')}: ${issue.message}`)
  return { ok: false, response: invalidResponse(violations.join('; ')) }
}

async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw new TooLarge()
  return readStream(c.req.raw.body, maxBytes, () => new TooLarge())
}
