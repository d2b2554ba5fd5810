import tls from 'node:tls'
import type { HostResolver, PinnedFetch } from '../repository/remote.ts'
import { lookup } from 'node:dns/promises'
import { Agent } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Fetch } from '../base/http.ts'
import { exchange } from './https-exchange.ts'

/** Only what is used of Node's built-in connection pool. */
type Pool = new (options: PoolLimits) => object
interface PoolLimits {
  headersTimeout: number
  bodyTimeout: number
  connectTimeout?: number
}

/**
 * `fetch` without the limits of its own that Node has (300 s to the first header and between parts of a
 * body), which a long model call exceeds; every caller sets its own timeout. Elsewhere plain `fetch`.
 * @param limitMs wait for the first header and between parts of a body; 0 means none
 * @param connectMs wait for a connection, on Node only; default that of the runtime
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

/** Node does not export its pool's class; the instance it keeps for `fetch` has it. */
async function createPool(limits: PoolLimits): Promise<object | null> {
  if (!globalThis.process?.versions?.undici) return null
  // The instance exists after the first use.
  await globalThis.fetch('data:,')
  const kept: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (typeof kept !== 'object' || kept === null) return null
  return isPool(kept.constructor) ? new kept.constructor(limits) : null
}

const isPool = (value: unknown): value is Pool => typeof value === 'function' && value.name === 'Agent'

/** Sockets between two requests of one conversation. */
const IDLE_MS = 4_000

/**
 * `fetch` as far as git needs it: one https origin, and connections to the given addresses only,
 * whatever a name server says by then. Certificates are checked for the name. Redirects are answered,
 * not followed. Node, Deno and Bun all take the look-up that this rests on.
 * Errors of the fetch: another origin, and those of the connection, as rejections.
 * @param extraAuthority PEM of authorities that count for the trusted addresses besides the usual ones
 */
export function createPinnedFetch(extraAuthority?: { caPem: string; trusted: (url: URL) => boolean }): PinnedFetch {
  return (target, addresses) => {
    const { origin, protocol, hostname } = target
    const ca = extraAuthority?.trusted(target) ? [...defaultAuthorities(), extraAuthority.caPem] : undefined
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
        ...(ca && { ca }),
        method: init.method ?? 'GET',
        headers: Object.fromEntries(headers),
      }
      return exchange(url, options, { body, signal: init.signal ?? null })
    }
  }
}

/** A look-up that knows one name. */
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

/** Naming any replaces all, so those that count without are named too. Not every runtime can list its own. */
const defaultAuthorities = (): readonly string[] => tls.getCACertificates?.('default') ?? tls.rootCertificates

/** Looks a host up as the operating system does, `/etc/hosts` included. All addresses, any family. */
export const resolveHost: HostResolver = async (host) => {
  const addresses = await lookup(host, { all: true, verbatim: true })
  return addresses.map(({ address }) => address)
}
