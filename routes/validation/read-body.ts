import { badRequest, PlatformError } from '../../src/base/errors.ts'
import { readStream } from '../../src/base/http.ts'
import { JsonTooLarge, parseLimitedJson } from '../../src/base/limited-json.ts'
import { InvalidRequest } from './problem.ts'

/** The largest bodies that routes accept, in bytes. The default is the smallest. */
export const SMALL_BODY = 64 * 1024
/** A message with links and facts, even if all its characters are escaped. */
export const MESSAGE_BODY = 1024 * 1024
/** A request in plain text, whose length the API does not limit: a whole specification may be pasted into it. */
export const REQUEST_BODY = 2 * 1024 * 1024

/** Formats a size: `64 KiB`, `2 MiB`. */
export const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / (1024 * 1024)} MiB`

const tooLarge = (text: string) => new PlatformError('ContentTooLarge', 413, `Request body ${text}.`)

/** Represents a body that is not JSON. It fails validation like a value that is no object. */
export const NOT_JSON = Symbol('not json')

/**
 * Reads the JSON body of a request; `undefined` when there is none, `NOT_JSON` for another content type.
 * @param maxBytes the largest body that the route accepts
 * Throws `InvalidRequest` of type `json_invalid`, also for too deep nesting; 400 for invalid UTF-8; 413 for more bytes
 * than the route accepts and for too many values.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const refusal = () => tooLarge(`is larger than ${maxBytes} bytes (${sizeText(maxBytes)})`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw refusal()
  const bytes = await readStream(request.body, maxBytes, refusal)
  if (bytes.byteLength === 0) return undefined
  if (!isJson(request.headers.get('content-type'))) return NOT_JSON
  try {
    return parseLimitedJson(bytes)
  } catch (error) {
    if (error instanceof JsonTooLarge && error.limit === 'values') throw tooLarge(error.message)
    if (error instanceof TypeError) throw badRequest('There was an error parsing the body', error)
    const reason = error instanceof JsonTooLarge ? error.message : 'is not valid JSON'
    const problem = { type: 'json_invalid', loc: ['body', position(error)], msg: 'JSON decode error', input: {} }
    throw new InvalidRequest([{ ...problem, ctx: { error: `the body ${reason}` } }])
  }
}

const isJson = (contentType: string | null) =>
  /^application\/([\w!#$&^.+-]+\+)?json\s*(;|$)/i.test(contentType?.trim() ?? '')

/** Returns the position at which the parser stopped, or 0 if unknown. Its text is not shown: it may quote the body. */
function position(error: unknown): number {
  const offset = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return offset ? Number(offset) : 0
}
