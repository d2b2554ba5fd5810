import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { Readable } from 'node:stream'
import type { Fetch } from '../../../../src/http/outbound.ts'

/** PEM texts; empty where there is none. */
export interface TlsOptions {
  /** Replaces the authorities of the system. */
  ca: string
  certificate: string
  key: string
  /** Name to ask for and to check the certificate against; empty means that of the URL. */
  server_name: string
  insecure: boolean
}

/** Sockets between two requests. */
const IDLE_MS = 4_000
const BODILESS = [204, 205, 304]

/**
 * `fetch` as far as a GET needs it, with authorities and a client certificate of its own, which the usual one cannot have.
 * Redirects are answered, not followed. Errors: those of the connection, as rejections.
 */
export function createTlsFetch({ ca, certificate, key, server_name, insecure }: TlsOptions): Fetch {
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    rejectUnauthorized: !insecure,
    ...(ca && { ca }),
    ...(certificate && { cert: certificate, key }),
    ...(server_name && { servername: server_name }),
  })
  return (input, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const url = new URL(input instanceof Request ? input.url : input)
    return exchange(
      url,
      { agent, method: init.method ?? 'GET', headers: { ...headers, 'accept-encoding': 'identity' } },
      init.signal ?? null,
    )
  }
}

function exchange(url: URL, options: RequestOptions, signal: AbortSignal | null): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const sent = request(url, options)
    const abort = () => sent.destroy(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    sent.once('close', () => signal?.removeEventListener('abort', abort))
    sent.on('error', reject)
    sent.once('response', (answer) => {
      try {
        resolve(toResponse(answer))
      } catch (error) {
        sent.destroy()
        reject(error)
      }
    })
    sent.end()
  })
}

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers()
  for (let index = 0; index < answer.rawHeaders.length; index += 2)
    headers.append(answer.rawHeaders[index] ?? '', answer.rawHeaders[index + 1] ?? '')
  const status = answer.statusCode ?? 0
  if (!BODILESS.includes(status)) return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers })
  answer.resume()
  return new Response(null, { status, headers })
}
