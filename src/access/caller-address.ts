import { type AddressRange, parseAddress, parseRange } from '../../config/address-ranges.ts'

/** Longest supported chain of proxies; entries further left were written by the caller. */
const MAX_HOPS = 32
/** Addresses of connections that are kept parsed. */
const MAX_PEERS = 1_000

/**
 * Makes a reader of the caller's address: the address of the connection, or if that is a trusted proxy, the right-most
 * entry of `X-Forwarded-For` that is not a trusted proxy. Entries to the left of it are claims of the caller and are
 * ignored. An entry that is no address ends the search with the proxy that added it.
 * @param trustedProxies addresses and ranges as in `http.trusted_proxies`
 * @returns a function of the remote address of the connection (null when the runtime does not provide it) and the value
 * of `X-Forwarded-For` (several headers joined by commas)
 */
export function createAddressReader(trustedProxies: readonly string[]) {
  const ranges = trustedProxies.map(parseRange).filter((range) => range !== null)
  // A connection sends many requests, and a proxy all of them.
  const peers = new Map<string, ReturnType<typeof readPeer>>()
  const peerOf = (peer: string) => {
    const known = peers.get(peer) ?? readPeer(peer)
    if (peers.size >= MAX_PEERS) peers.clear()
    peers.set(peer, known)
    return known
  }
  return (peer: string | null, forwardedFor: string | null): string | null => {
    const { address, text } = peer === null ? { address: null, text: null } : peerOf(peer)
    if (address === null || !isTrusted(address, ranges)) return text
    let found = address
    const hops = (forwardedFor ?? '').split(',').slice(-MAX_HOPS)
    while (isTrusted(found, ranges)) {
      const next = parseAddress(withoutPort(hops.pop() ?? ''))
      if (next === null) break
      found = next
    }
    return found.toString()
  }
}

function readPeer(peer: string) {
  const address = parseAddress(peer)
  return { address, text: address?.toString() ?? null }
}

const isTrusted = (address: NonNullable<ReturnType<typeof parseAddress>>, ranges: readonly AddressRange[]): boolean =>
  ranges.some((range) => address.kind() === range[0].kind() && address.match(range))

/** Removes the port that some proxies add: `203.0.113.7:5678` or `[2001:db8::7]:5678`. */
function withoutPort(entry: string): string {
  const text = entry.trim()
  const [, bracketed, plain] = /^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
