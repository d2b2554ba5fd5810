import ipaddr from 'ipaddr.js'

/**
 * True when an IP address (as text) is reachable for everyone on the internet. Addresses that carry an
 * IPv4 address inside (mapped, NAT64, 6to4) are judged by it; everything unreadable is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address.kind() === 'ipv4') return address.range() === 'unicast'
  const inner = embedded(address.toByteArray())
  if (inner) return isPublicAddress(inner)
  return address.range() === 'unicast' && !isCompatible(address.toByteArray())
}

/** IPv4 inside an IPv6 address: where it begins, by prefix (RFC 4291, 6052, 8215, 3056). */
const EMBEDDINGS: readonly { prefix: number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], at: 12 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], at: 12 },
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { prefix: [0x20, 0x02], at: 2 },
]

function embedded(bytes: number[]): string | null {
  for (const { prefix, at } of EMBEDDINGS)
    if (prefix.every((byte, index) => bytes[index] === byte)) return bytes.slice(at, at + 4).join('.')
  return null
}

/** `::a.b.c.d`, withdrawn by RFC 4291: no host on the internet has one. */
const isCompatible = (bytes: number[]): boolean => bytes.slice(0, 12).every((byte) => byte === 0)
