import { Agent } from 'node:https'
import type { Fetch } from '../../../../src/base/http.ts'
import { exchange } from '../../../../src/runtime/https-exchange.ts'

/** PEM texts; empty where there is none. */
export interface TlsOptions {
  /** Replaces the authorities of the system. */
  ca: string
  certificate: string
  key: string
  /** Name to ask for and to check the certificate against; empty means that of the URL. */
  serverName: string
  insecure: boolean
}

/** Sockets are kept open for this long between two requests. */
const IDLE_MS = 4_000

/**
 * A `fetch` that does what a GET needs, with authorities and a client certificate of its own, which the usual one
 * cannot have. Redirects are answered, not followed. Errors: those of the connection, as rejections.
 */
export function createTlsFetch({ ca, certificate, key, serverName, insecure }: TlsOptions): Fetch {
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    rejectUnauthorized: !insecure,
    ...(ca && { ca }),
    ...(certificate && { cert: certificate, key }),
    ...(serverName && { servername: serverName }),
  })
  return (input, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const url = new URL(input instanceof Request ? input.url : input)
    return exchange(
      url,
      { agent, method: init.method ?? 'GET', headers: { ...headers, 'accept-encoding': 'identity' } },
      { body: null, signal: init.signal ?? null },
    )
  }
}
