import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import tls from 'node:tls'
import type { Fetch } from '../base/http.ts'
import type { HostResolver, PinnedFetch } from '../repository/remote.ts'

/** The part of Node's built-in connection pool that is used here. */
type Pool = new (options: PoolLimits) => object
interface PoolLimits {
  headersTimeout: number
  bodyTimeout: number
  connectTimeout?: number
}

/**
 * Creates a `fetch` without Node's limits of 300 s for the headers and between parts of the body, which long model
 * calls exceed. Every caller sets its own timeout. On other runtimes it is their plain `fetch`.
 * @param limitMs longest wait for the headers and between parts of the body, on Node only; 0 means no limit
 * @param connectMs longest wait for a connection, on Node only; default: Node's own
 */
export function createFetch(limitMs = 0, connectMs?: number): Fetch {
  let pool: Promise<object | null> | undefined
  return async (input, init) => {
    pool ??= createPool({
      headersTimeout: limitMs,
      bodyTimeout: limitMs,
      ...(connectMs ? { connectTimeout: connectMs } : {}),
    })
    const dispatcher = await pool
    return globalThis.fetch(input, dispatcher ? Object.assign({}, init, { dispatcher }) : init)
  }
}

/** Creates a connection pool; null on other runtimes. Node does not export the class, so an instance provides it. */
async function createPool(limits: PoolLimits): Promise<object | null> {
  if (!globalThis.process?.versions?.undici) return null
  // Node creates its instance on the first use of `fetch`.
  await globalThis.fetch('data:,')
  const kept: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (typeof kept !== 'object' || kept === null) return null
  return isPool(kept.constructor) ? new kept.constructor(limits) : null
}

const isPool = (value: unknown): value is Pool => typeof value === 'function' && value.name === 'Agent'

/** Milliseconds for which an idle socket stays open. A git operation consists of several requests. */
const IDLE_MS = 4_000

/**
 * Creates a `fetch` for git that reaches a single https origin, at the given addresses only. The addresses were checked
 * before, and later DNS answers cannot change them. Certificates are checked for the host name. Redirects are returned
 * and not followed. Works on Node, Deno and Bun. Rejects another origin, and with errors of the connection.
 * @param extraAuthority additional authorities as PEM text, for URLs that `trusted` accepts
 */
export function createPinnedFetch(extraAuthority?: { caPem: string; trusted: (url: URL) => boolean }): PinnedFetch {
  let context: tls.SecureContext | undefined
  /** Made once, because each context parses the certificates of all authorities into memory of its own. */
  const openContext = (caPem: string) => {
    context ??= tls.createSecureContext({ ca: [...defaultAuthorities(), caPem] })
    return context
  }
  return (target, addresses) => {
    const { origin, protocol, hostname } = target
    const secureContext = extraAuthority?.trusted(target) ? openContext(extraAuthority.caPem) : undefined
    const lookup = createPinnedLookup(hostname, addresses)
    const agent = new Agent({ keepAlive: true, timeout: IDLE_MS })
    return async (input, init = {}) => {
      const url = new URL(input instanceof Request ? input.url : input)
      if (url.origin !== origin || protocol !== 'https:')
        throw new TypeError(`connections are pinned to ${origin}, over https`)
      const headers = new Headers(init.headers)
      if (!headers.has('accept')) headers.set('accept', '*/*')
      headers.set('accept-encoding', 'identity')
      const body = init.body == null ? null : new Uint8Array(await new Response(init.body).arrayBuffer())
      const options = {
        agent,
        lookup,
        ...(secureContext && { secureContext }),
        method: init.method ?? 'GET',
        headers: Object.fromEntries(headers),
      }
      return exchange(url, options, { body, signal: init.signal ?? null })
    }
  }
}

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

/** Creates a DNS lookup that knows a single host with its addresses and fails for others. */
function createPinnedLookup(hostname: string, addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (name, { all }, callback) => {
    queueMicrotask(() => {
      const [first] = entries
      if (name !== hostname || !first) callback(new Error(`no address is known for ${name}`), '')
      else if (all) callback(null, entries)
      else callback(null, first.address, first.family)
    })
  }
}

/** Returns the default authorities (or built-in ones, on older runtimes), because the option `ca` replaces them. */
const defaultAuthorities = (): readonly string[] => tls.getCACertificates?.('default') ?? tls.rootCertificates

/** Looks up all addresses of a host, IPv4 and IPv6, as the operating system does, including `/etc/hosts`. */
export const resolveHost: HostResolver = async (host) => {
  const addresses = await lookup(host, { all: true, verbatim: true })
  return addresses.map(({ address }) => address)
}
