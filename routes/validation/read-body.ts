import { badRequest, PlatformError } from '../../src/base/errors.ts'
import { readStream } from '../../src/base/http.ts'
import { InvalidRequest } from './problem.ts'

export const MAX_BODY_BYTES = 10 * 1024 * 1024
const tooLarge = () =>
  new PlatformError('ContentTooLarge', 413, `Request body is larger than ${MAX_BODY_BYTES} bytes (10 MiB).`)

/** Stands for a body of another content type than JSON. It validates like a value that is no object. */
export const NOT_JSON = Symbol('not json')

/**
 * Reads the JSON body of a request; `undefined` when there is none, `NOT_JSON` under another content type.
 * Errors: `InvalidRequest` of type `json_invalid`; 400 when the bytes are no UTF-8; 413 for more than 10 MiB.
 */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readLimited(request)
  if (bytes.byteLength === 0) return undefined
  if (!isJson(request.headers.get('content-type'))) return NOT_JSON
  const text = decode(bytes)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InvalidRequest([
      {
        type: 'json_invalid',
        loc: ['body', position(error)],
        msg: 'JSON decode error',
        input: {},
        ctx: { error: 'the body is not valid JSON' },
      },
    ])
  }
}

const isJson = (contentType: string | null) =>
  /^application\/([\w!#$&^.+-]+\+)?json\s*(;|$)/i.test(contentType?.trim() ?? '')

/** Where the parser stopped, or 0 when the runtime does not say. Its own text is not shown: it may quote the body. */
function position(error: unknown): number {
  const offset = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return offset ? Number(offset) : 0
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw badRequest('There was an error parsing the body', error)
  }
}

async function readLimited(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  return await readStream(request.body, MAX_BODY_BYTES, tooLarge)
}
