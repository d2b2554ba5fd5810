import ipaddr from 'ipaddr.js'

/** An address and the number of its leading bits that are compared. */
export type AddressRange = [ipaddr.IPv4, number] | [ipaddr.IPv6, number]

/** Reads an IP address without a zone; null for anything else. IPv4-mapped IPv6 becomes IPv4. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bare = text.replace(/%.*$/s, '')
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return null
  return ipaddr.process(bare)
}

/** Reads an address or a range such as `10.0.0.0/8`; null for anything else and for a range of all addresses. */
export function parseRange(text: string): AddressRange | null {
  const [first = '', prefix, ...rest] = text.split('/')
  const address = parseAddress(first)
  if (address === null || rest.length > 0) return null
  const all = address.kind() === 'ipv4' ? 32 : 128
  const written = prefix === undefined ? all : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  // The prefix length of an IPv4-mapped address includes the 96 bits before the IPv4 part.
  const bits = prefix !== undefined && address.kind() === 'ipv4' && first.includes(':') ? written - 96 : written
  if (bits < 1 || bits > all) return null
  return [address, bits] as AddressRange
}
