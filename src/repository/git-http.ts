import type { Errors, GitHttpRequest, HttpClient } from 'isomorphic-git'
import { type Fetch, send } from '../base/http.ts'
import type { Slices } from '../base/slices.ts'

interface GitHttpOptions {
  /** Limit of each request, from connection to the end of the answer. */
  timeoutMs: number
  /** Largest answer body. */
  maxBytes: number
  signal?: AbortSignal
  /**
   * Receiver of a fetched pack, which the library then skips: it would inflate objects before checking sizes, and could
   * not be interrupted. `filter` says which contents are left out if the server supports it.
   */
  withPack?: {
    take: (pack: Uint8Array<ArrayBuffer>, isFiltered: boolean) => Promise<void>
    filter: string
    slices: Slices
  }
}

/** Questions to a repository change nothing, so they are asked again after faults on the way. */
export const READ_AGAIN = { retries: 3, retryStatuses: [429, 502, 503, 504] } as const

/** Limit of error bodies, which library errors quote without any use here. */
const MAX_ERROR_BYTES = 1_024

/**
 * Creates the HTTP client for isomorphic-git on top of the injected fetch. Redirects are returned, not followed, so
 * that credentials stay with the host; answers are bounded, and asked for again after faults on the way. Errors:
 * `OutboundError`; plain ones for an answer that is not git's.
 */
export function createGitHttp(fetch: Fetch, options: GitHttpOptions): HttpClient {
  let canFilter = false
  const bound = async (isDiscovery: boolean, body: Uint8Array<ArrayBuffer>) => {
    if (isDiscovery || !options.withPack) return takeFirstLines(body)
    const { lines, pack } = await partAnswer(body, options.withPack.slices)
    await options.withPack.take(pack, canFilter)
    return lines
  }
  return {
    request: async ({ url, method = 'GET', headers = {}, body }) => {
      const bytes = body && join(await Array.fromAsync(body))
      const response = await send(fetch, {
        url,
        method,
        headers,
        body: bytes && (canFilter ? addFilter(bytes, options.withPack?.filter ?? '') : bytes),
        timeoutMs: options.timeoutMs,
        maxBytes: options.maxBytes,
        signal: options.signal,
        redirect: 'manual',
        ...READ_AGAIN,
      })
      if (options.withPack && method === 'GET') canFilter = advertisesFilter(response.body)
      const isAnswer = response.status === 200
      return {
        url,
        method,
        headers: Object.fromEntries(response.headers),
        body: toAsyncIterable(
          isAnswer ? await bound(method === 'GET', response.body) : response.body.subarray(0, MAX_ERROR_BYTES),
        ),
        statusCode: response.status,
        statusMessage: String(response.status),
      }
    },
  }
}

/**
 * Returns the status with which a server refused, of an error of isomorphic-git; null for any other error. The error is
 * known by its code, because the library, which is large, is loaded only to talk to a server.
 */
export function refusalOf(error: unknown): number | null {
  const isRefusal = error instanceof Error && 'code' in error && error.code === HTTP_ERROR
  return isRefusal ? (error as InstanceType<typeof Errors.HttpError>).data.statusCode : null
}
const HTTP_ERROR: typeof Errors.HttpError.code = 'HttpError'

async function* toAsyncIterable(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes
}

/** Reports whether the server can filter objects; its capabilities follow the first reference and a NUL byte. */
function advertisesFilter(advertisement: Uint8Array): boolean {
  const start = advertisement.indexOf(0)
  if (start < 0) return false
  const text = new TextDecoder().decode(advertisement.subarray(start + 1, start + 2_048))
  return (text.split('\n')[0] ?? '').split(' ').includes('filter')
}

/**
 * Adds to a fetch request the filter of file contents, which isomorphic-git does not support. In protocol version 1 the
 * capability `filter` belongs to the first `want` line, the filter before the flush packet after the wants.
 */
function addFilter(request: Uint8Array, filter: string): Uint8Array<ArrayBuffer> {
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
  let [head, rest] = ['', 0]
  for (const { kind, start, end } of readPackets(request)) {
    if (kind === 'control') break
    const line = decode(request.subarray(start, end)).replace(/\n$/, '')
    head += packetLine(rest === 0 ? `${line} filter` : line)
    rest = end
  }
  return new TextEncoder().encode(`${head}${packetLine(`filter ${filter}`)}${decode(request.subarray(rest))}`)
}

/**
 * Writes the request of objects by their hashes in protocol version 2, which isomorphic-git cannot.
 * @returns a function that completes the request, whose body can be sent only once, with headers
 */
export function writeObjectRequest(repository: string, hashes: readonly string[]) {
  const wants = hashes.map((hash) => packetLine(`want ${hash}`)).join('')
  const options = `${packetLine('no-progress')}${packetLine('ofs-delta')}`
  const body = new TextEncoder().encode(`${packetLine('command=fetch')}0001${options}${wants}${packetLine('done')}0000`)
  return (headers: Record<string, string> = {}): GitHttpRequest => ({
    url: `${repository}/git-upload-pack`,
    method: 'POST',
    headers: {
      'content-type': 'application/x-git-upload-pack-request',
      accept: 'application/x-git-upload-pack-result',
      'git-protocol': 'version=2',
      ...headers,
    },
    body: toAsyncIterable(body),
  })
}

/** Line limit for isomorphic-git, which searches references in quadratic time; HEAD is in the first line. */
const MAX_LINES = 64
const MAX_LINE_BYTES = 4_096
const FLUSH = Uint8Array.of(0x30, 0x30, 0x30, 0x30)
/** Packets between two checks of the clock. */
const BATCH = 1_024

/**
 * Returns the first lines of a list of references, terminated.
 * @throws plain errors for an answer that is not git's, or has a line of more than 4 KiB among the first 64
 */
function takeFirstLines(answer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let [lines, length] = [0, 0]
  for (const { kind, start, end } of readPackets(answer)) {
    if (kind === 'data' && ++lines > MAX_LINES) break
    checkLine(start, end)
    length = end
  }
  return join([answer.subarray(0, length), FLUSH])
}

function checkLine(start: number, end: number): void {
  if (end - start > MAX_LINE_BYTES) throw new Error('a line of the git server is too long')
}

const [PACK_BAND, PROGRESS_BAND, ERROR_BAND] = [1, 2, 3]

/**
 * Separates the pack of an answer from the lines before it. The pack is assembled in the answer's own bytes, to avoid a
 * second copy. Errors: plain ones for an answer that is not git's and for a server that refuses; the reason of the
 * slices' signal.
 */
async function partAnswer(answer: Uint8Array<ArrayBuffer>, slices: Slices) {
  const lines: Uint8Array<ArrayBuffer>[] = []
  let [length, packets] = [0, 0]
  for (const { kind, start, end } of readPackets(answer)) {
    if (++packets % BATCH === 0 && slices.due()) await slices.pause()
    if (kind === 'control' || start === end) continue
    const band = answer[start]
    if (band === PACK_BAND) {
      answer.copyWithin(length, start + 1, end)
      length += end - start - 1
    } else if (band === ERROR_BAND || startsWithError(answer, start, end)) {
      throw new Error('the server refused to send the commit')
    } else if (band !== PROGRESS_BAND) {
      if (length > 0 || lines.length >= MAX_LINES) throw notGit()
      checkLine(start, end)
      lines.push(answer.slice(start - 4, end))
    }
  }
  return { lines: join([...lines, FLUSH]), pack: answer.subarray(0, length) }
}

/** Reports whether a line begins with `ERR `. */
const startsWithError = (bytes: Uint8Array, start: number, end: number): boolean =>
  new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + 4))) === 'ERR '

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}

/** Formats an ASCII line as a packet: length in four hexadecimal digits, line, line feed. */
const packetLine = (line: string): string => `${(line.length + 5).toString(16).padStart(4, '0')}${line}\n`

/** Yields the places of packets' contents; control packets have none. Errors: plain for a cut or foreign answer. */
function* readPackets(bytes: Uint8Array): Generator<{ kind: 'data' | 'control'; start: number; end: number }> {
  for (let offset = 0; offset < bytes.length; ) {
    const length = readLength(bytes, offset)
    const end = offset + Math.max(length, 4)
    if (length === 3 || end > bytes.length) throw notGit()
    yield { kind: length < 4 ? 'control' : 'data', start: offset + 4, end }
    offset = end
  }
}

const notGit = () => new Error('the answer does not follow the protocol of git')

function readLength(bytes: Uint8Array, offset: number): number {
  let length = 0
  for (let index = offset; index < offset + 4; index++) {
    const digit = hexDigit(bytes[index] ?? 0)
    if (digit < 0) throw notGit()
    length = length * 16 + digit
  }
  return length
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
