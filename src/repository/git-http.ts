import type { HttpClient } from 'isomorphic-git'
import { type Fetch, send } from '../base/http.ts'
import type { Slices } from '../base/slices.ts'
import { partAnswer, takeFirstLines } from './bounded-answers.ts'
import { packetLine, readPackets } from './packets.ts'

export interface GitHttpOptions {
  /** Limit of each request, from connection to the end of the answer. */
  timeoutMs: number
  /** Largest answer body. */
  maxBytes: number
  signal?: AbortSignal
  /**
   * Receiver of a fetched pack, which the library then skips: it would inflate objects before checking sizes, and could
   * not be interrupted. File contents are left out if the server supports it.
   */
  withPack?: { take: (pack: Uint8Array) => Promise<void>; slices: Slices }
}

/** Limit of error bodies, which library errors quote without any use here. */
const MAX_ERROR_BYTES = 1_024

/**
 * Creates the HTTP client for isomorphic-git on top of the injected fetch. Redirects are returned, not followed, so
 * that credentials stay with the host; answers are bounded. Errors: `OutboundError`; plain ones for an answer that is
 * not git's.
 */
export function createGitHttp(fetch: Fetch, options: GitHttpOptions): HttpClient {
  let canFilter = false
  const bound = async (isDiscovery: boolean, body: Uint8Array<ArrayBuffer>) => {
    if (isDiscovery || !options.withPack) return takeFirstLines(body)
    const { lines, pack } = await partAnswer(body, options.withPack.slices)
    await options.withPack.take(pack)
    return lines
  }
  return {
    request: async ({ url, method = 'GET', headers = {}, body }) => {
      const bytes = body && (await collect(body))
      const response = await send(fetch, {
        url,
        method,
        headers,
        body: bytes && (canFilter ? addBlobFilter(bytes) : bytes),
        timeoutMs: options.timeoutMs,
        maxBytes: options.maxBytes,
        signal: options.signal,
        redirect: 'manual',
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

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of chunks) parts.push(new Uint8Array(chunk))
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

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
function addBlobFilter(request: Uint8Array): Uint8Array<ArrayBuffer> {
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
  let [head, rest] = ['', 0]
  for (const { kind, start, end } of readPackets(request)) {
    if (kind === 'control') break
    const line = decode(request.subarray(start, end)).replace(/\n$/, '')
    head += packetLine(rest === 0 ? `${line} filter` : line)
    rest = end
  }
  return new TextEncoder().encode(`${head}${packetLine('filter blob:none')}${decode(request.subarray(rest))}`)
}
