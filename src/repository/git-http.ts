import type { HttpClient } from 'isomorphic-git'
import { type Fetch, send } from '../base/http.ts'

/**
 * The HTTP client for isomorphic-git, on top of the injected fetch. Redirects are not followed but answered to the
 * caller as they are, so that no request, with its credentials, goes to another host.
 * @param options.timeoutMs for each request
 * @param options.maxBytes largest answer body
 * @param options.blobless asks the server to leave out the contents of files, if it can
 */
export function createGitHttp(
  fetch: Fetch,
  options: { timeoutMs: number; maxBytes: number; signal?: AbortSignal; blobless?: boolean },
): HttpClient {
  let canFilter = false
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
      if (options.blobless && method === 'GET') canFilter = advertisesFilter(response.body)
      return {
        url,
        method,
        headers: Object.fromEntries(response.headers),
        body: toAsyncIterable(response.body),
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

/** Whether the server can filter objects. Its capabilities stand behind the first reference, after a NUL byte. */
function advertisesFilter(advertisement: Uint8Array): boolean {
  const start = advertisement.indexOf(0)
  if (start < 0) return false
  const text = new TextDecoder().decode(advertisement.subarray(start + 1, start + 2_048))
  return (text.split('\n')[0] ?? '').split(' ').includes('filter')
}

/**
 * Turns a fetch request into one without the contents of files, which isomorphic-git cannot ask for itself. In
 * protocol version 1 the capability `filter` belongs to the first `want` line, and the filter itself stands before
 * the flush packet that ends the wants.
 */
function addBlobFilter(request: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder('latin1').decode(request)
  let [offset, head] = [0, '']
  while (offset + 4 <= text.length) {
    const length = Number.parseInt(text.slice(offset, offset + 4), 16)
    if (length < 4) break
    const line = text.slice(offset + 4, offset + length)
    head += offset === 0 ? toPacketLine(line.replace(/\n?$/, ' filter\n')) : toPacketLine(line)
    offset += length
  }
  return new TextEncoder().encode(`${head}${toPacketLine('filter blob:none\n')}${text.slice(offset)}`)
}

const toPacketLine = (line: string): string => (line.length + 4).toString(16).padStart(4, '0') + line
