import { hostname, networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** The target of an address that is not public, in words for a diagnostic. */
export type Reach = 'this machine' | 'a link-local service such as the metadata of the cloud' | 'a private network'

const LOCAL_NAME = /^(?:localhost|ip6-localhost|ip6-loopback|host\.docker\.internal|host\.containers\.internal)$/
const METADATA_NAME = /^(?:metadata|metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)$/
/** Public names that resolve to the address inside them. */
const ADDRESS_IN_NAME = /(\d{1,3}(?:[.-]\d{1,3}){3})\.(?:nip|sslip)\.io$/

/**
 * Returns the target of a host; null for a public one and for a name that needs a look-up. Understands every spelling
 * that resolvers accept, such as octal and short forms, IPv4 inside IPv6 and full-width digits.
 */
export function hostReach(host: string): Reach | null {
  const name = canonicalHost(host)
  if (name === null) return null
  const bare = name.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
  if (LOCAL_NAME.test(bare) || bare.endsWith('.localhost') || bare === hostname().toLowerCase()) return 'this machine'
  if (METADATA_NAME.test(bare)) return 'a link-local service such as the metadata of the cloud'
  const inner = ADDRESS_IN_NAME.exec(bare)?.[1]
  const octal = leadingZeros(host)
  for (const address of [bare, inner?.replaceAll('-', '.'), octal]) {
    const reach = address === undefined ? null : addressReach(address)
    if (reach !== null) return reach
  }
  return null
}

/** Returns the host in the form of the URL parser: IPv4 as four decimals, names in lower case. */
function canonicalHost(host: string): string | null {
  const text = host.trim()
  for (const candidate of [text, `[${text.replace(/^\[|\]$/g, '').replace(/%.*$/, '')}]`]) {
    try {
      return new URL(`http://${candidate}/`).hostname
    } catch {}
  }
  return null
}

/** Go reads `010.0.0.1` literally, other resolvers as octal: both readings are checked. */
function leadingZeros(host: string): string | undefined {
  const parts = /^\[?(\d{1,10}(?:\.\d{1,10}){3})\]?(?::\d+)?$/.exec(host.trim())?.[1]
  return parts?.split('.').map(Number).join('.')
}

function addressReach(text: string): Reach | null {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.process(text)
  if (ownAddresses().has(address.toString())) return 'this machine'
  if (address.kind() === 'ipv6') {
    const bytes = address.toByteArray()
    const embedded = EMBEDDINGS.find(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte))
    if (embedded && address.toString() !== '::1' && address.toString() !== '::')
      return addressReach(bytes.slice(embedded.at, embedded.at + 4).join('.'))
  }
  const range = address.range()
  if (range === 'loopback' || range === 'unspecified') return 'this machine'
  if (range === 'linkLocal' || address.toString() === 'fd00:ec2::254')
    return 'a link-local service such as the metadata of the cloud'
  return range === 'unicast' ? null : 'a private network'
}

/** IPv6 prefixes with an embedded IPv4 address, and the byte where it begins (RFC 4291, 6052, 8215, 3056). */
const EMBEDDINGS: readonly { prefix: number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], at: 12 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { prefix: [0x20, 0x02], at: 2 },
]

const ownAddresses = (): Set<string> =>
  new Set(
    Object.values(networkInterfaces()).flatMap((of) =>
      (of ?? []).map(({ address }) => ipaddr.process(address.replace(/%.*$/, '')).toString()),
    ),
  )
