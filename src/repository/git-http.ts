import type { HttpClient } from 'isomorphic-git'
import { type Fetch, send } from '../base/http.ts'
import type { Slices } from '../base/slices.ts'
import { partAnswer, takeFirstLines } from './bounded-answers.ts'
import { packetLine, readPackets } from './packets.ts'

export interface GitHttpOptions {
  /** For each request, from the connection to the end of the answer. */
  timeoutMs: number
  /** Largest answer body. */
  maxBytes: number
  signal?: AbortSignal
  /**
   * Gets the pack of a fetch, which the library then does not see: it would inflate the objects before it looks at
   * their sizes, and could not be interrupted. The contents of files are left out if the server can do that.
   */
  withPack?: { take: (pack: Uint8Array) => Promise<void>; slices: Slices }
}

/** What errors of the library quote of an answer is not used, so it gets little of it. */
const MAX_ERROR_BYTES = 1_024

/**
 * The HTTP client for isomorphic-git, on top of the injected fetch. Redirects are not followed but answered to the
 * caller as they are, so that no request, with its credentials, goes to another host. What the library gets to see of
 * an answer is bounded. Errors: `OutboundError`; plain ones for an answer that is no git.
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

/**
 * Reports whether the server can filter objects. Its capabilities stand behind the first reference, after a NUL byte.
 */
function advertisesFilter(advertisement: Uint8Array): boolean {
  const start = advertisement.indexOf(0)
  if (start < 0) return false
  const text = new TextDecoder().decode(advertisement.subarray(start + 1, start + 2_048))
  return (text.split('\n')[0] ?? '').split(' ').includes('filter')
}

/**
 * Turns a fetch request into one without the contents of files, which isomorphic-git cannot ask for itself. In protocol
 * version 1 the capability `filter` belongs to the first `want` line, and the filter itself stands before the flush
 * packet that ends the wants.
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
