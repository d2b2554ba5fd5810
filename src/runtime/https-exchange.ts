import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { Readable } from 'node:stream'

/** Statuses of responses without a body. */
const BODILESS = [204, 205, 304]

/**
 * Sends one request over https with options that `fetch` lacks: an agent, a DNS lookup and authorities. Redirects are
 * returned and not followed. Throws the errors of the connection, and the reason of the signal.
 */
export function exchange(
  url: URL,
  options: RequestOptions,
  { body, signal }: { body: Uint8Array | null; signal: AbortSignal | null },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const outgoing = request(url, options)
    const abort = () => outgoing.destroy(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    outgoing.once('close', () => signal?.removeEventListener('abort', abort))
    outgoing.on('error', reject)
    outgoing.once('response', (answer) => {
      try {
        resolve(toResponse(answer))
      } catch (error) {
        outgoing.destroy()
        reject(error)
      }
    })
    outgoing.end(body ?? undefined)
  })
}

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers()
  for (let index = 0; index < answer.rawHeaders.length; index += 2)
    headers.append(answer.rawHeaders[index] ?? '', answer.rawHeaders[index + 1] ?? '')
  const status = answer.statusCode ?? 0
  if (!BODILESS.includes(status))
    return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers })
  answer.resume()
  return new Response(null, { status, headers })
}
