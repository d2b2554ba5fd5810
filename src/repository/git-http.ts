import type { HttpClient } from 'isomorphic-git'
import { type Fetch, send } from '../base/http.ts'

/**
 * Carries isomorphic-git's requests over the injected fetch. Every request stays on the origin it was
 * made for: redirects are answered to the caller as they are, never followed.
 * @param options.timeout_ms for each request
 * @param options.max_bytes largest answer body
 * @param options.blobless asks the server to leave out file contents, where it can
 */
export function gitHttp(
  fetch: Fetch,
  options: { timeout_ms: number; max_bytes: number; signal?: AbortSignal; blobless?: boolean },
): HttpClient {
  let filter = false
  return {
    request: async ({ url, method = 'GET', headers = {}, body }) => {
      const bytes = body && (await collect(body))
      const response = await send(fetch, {
        url,
        method,
        headers,
        body: bytes && (filter ? withoutBlobs(bytes) : bytes),
        timeout_ms: options.timeout_ms,
        max_bytes: options.max_bytes,
        signal: options.signal,
        redirect: 'manual',
      })
      if (options.blobless && method === 'GET') filter = advertisesFilter(response.body)
      return {
        url,
        method,
        headers: Object.fromEntries(response.headers),
        body: once(response.body),
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

async function* once(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes
}

/** Capabilities follow the first reference of the advertisement, after a NUL. */
function advertisesFilter(advertisement: Uint8Array): boolean {
  const start = advertisement.indexOf(0)
  if (start < 0) return false
  const text = new TextDecoder().decode(advertisement.subarray(start + 1, start + 2_048))
  return (text.split('\n')[0] ?? '').split(' ').includes('filter')
}

/**
 * isomorphic-git has no partial clone: adds the capability to its first `want` line and the filter
 * itself before the flush that ends the wants (protocol version 1).
 */
function withoutBlobs(request: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder('latin1').decode(request)
  let [offset, head] = [0, '']
  while (offset + 4 <= text.length) {
    const length = Number.parseInt(text.slice(offset, offset + 4), 16)
    if (length < 4) break
    const line = text.slice(offset + 4, offset + length)
    head += offset === 0 ? packet(line.replace(/\n?$/, ' filter\n')) : packet(line)
    offset += length
  }
  return new TextEncoder().encode(`${head}${packet('filter blob:none\n')}${text.slice(offset)}`)
}

const packet = (line: string): string => (line.length + 4).toString(16).padStart(4, '0') + line
