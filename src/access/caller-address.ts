import { type AddressRange, parseAddress, parseRange } from '../../config/address-ranges.ts'

/**
 * Returns the address that a request comes from.
 * @param peer the other end of the connection; null when the runtime does not say
 * @param forwardedFor the value of `X-Forwarded-For`, several headers joined by commas
 */
export type AddressReader = (peer: string | null, forwardedFor: string | null) => string | null

/** No chain of proxies is longer; what stands further left was written by the caller. */
const MAX_HOPS = 32

/**
 * Makes a reader of the caller's address. The address is that of the connection, unless that is one of the trusted
 * proxies: then it is the right-most entry of `X-Forwarded-For` that is no trusted proxy itself. Entries to the left of
 * it are what the caller claims and are not looked at. An entry that is no address ends the search, and the proxy that
 * passed it on counts.
 * @param trustedProxies addresses and ranges as in `http.trusted_proxies`
 */
export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  const ranges = trustedProxies.map(parseRange).filter((range) => range !== null)
  return (peer, forwardedFor) => {
    let found = peer === null ? null : parseAddress(peer)
    if (found === null) return null
    const hops = (forwardedFor ?? '').split(',').slice(-MAX_HOPS)
    while (isTrusted(found, ranges)) {
      const next = parseAddress(withoutPort(hops.pop() ?? ''))
      if (next === null) break
      found = next
    }
    return found.toString()
  }
}

type Address = NonNullable<ReturnType<typeof parseAddress>>

const isTrusted = (address: Address, ranges: readonly AddressRange[]): boolean =>
  ranges.some((range) => address.kind() === range[0].kind() && address.match(range))

/** Some proxies add the port: `203.0.113.7:5678` or `[2001:db8::7]:5678`. */
function withoutPort(entry: string): string {
  const text = entry.trim()
  const [, bracketed, plain] = /^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
