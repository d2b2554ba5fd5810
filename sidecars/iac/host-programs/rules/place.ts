import { hostname, networkInterfaces } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { decodeOrKeep } from '../../../../config/mask-url.ts'
import { MODULE_PATH, ROOT_PATH } from '../../../../src/hcl/parser.ts'
import type { ConfigNode } from '../config-tree.ts'

/** The location of a configuration file and the limits of its reach. All paths are absolute. */
export interface Place {
  workspace: string
  /** The folder outside of which nothing may be read. */
  boundary: string
  /** The folder of the file, which is its module. */
  folder: string
  /** True if the platform wrote the file, to send the state to its own store, which may have any address. */
  isOwnOverride: boolean
  /** True if the keys file that this override file names holds nothing but keys. */
  hasPlainKeys: boolean
  /** Name of the platform's override file, which holds the keys of the state store. */
  overrideFilename: string
  /** Hosts, addresses and networks (CIDR) that may be contacted although they are not public. */
  allowedHosts: readonly string[]
}

/** Returns the target of a path beyond the boundary, else null. `base`: the folder of relative paths. */
export function pathReach(node: ConfigNode | undefined, place: Place, base = place.workspace): string | null {
  if (node?.kind !== 'string') return null
  const text = node.value.trim()
  if (/^~/.test(text)) return 'the path begins in the home folder of the engine'
  if (/^(?:file:)?\//i.test(text)) return 'the path is absolute, so it would reach files of this machine'
  const known = node.whole ? text : text.slice(0, text.lastIndexOf('/') + 1)
  if (known === '') return null
  const path = resolve(base, known.replaceAll(MODULE_PATH, place.folder).replaceAll(ROOT_PATH, place.workspace))
  const inside = relative(place.boundary, path)
  if (inside === '..' || inside.startsWith('../') || isAbsolute(inside))
    return 'the path climbs out of the repository, so it would reach files of other sessions and of this machine'
  return secretFile(inside.split('/'), node.whole ? place.overrideFilename : null)
}

/** Recognises files inside the repository that may hold secrets; returns the reason, null for any other. */
function secretFile(segments: string[], overrideFilename: string | null): string | null {
  const name = segments.at(-1) ?? ''
  if (segments.includes('.git')) return "the path leads into git's own folder, which may hold credentials"
  if (overrideFilename !== null && name === overrideFilename) return 'the file may hold the keys of the state store'
  return segments.at(-2) === '.terraform' && name.startsWith('terraform.tfstate')
    ? 'the file may hold the keys of the state store'
    : null
}

/** Returns the folder of a local source; null when the source is not local. */
export const localFolder = (source: string, folder: string): string | null =>
  /^\.\.?(?:[/\\]|$)/.test(source) ? resolve(folder, join('.', source)) : null

const URL_HOST = /^[a-z][a-z0-9+.-]*:\/{2,}(?:[^/?#\\]*@)?(\[[^\]]*\]|[^/?#\\:]*)/i
const BARE_HOST = /^(?:[^/?#\\@\s]*@)?(\[[^\]]*\]|[^/?#\\:\s]+|[0-9a-f:]*:[0-9a-f:.]+)(?::\d+)?(?:[/?#].*)?$/i
const SOCKET = /^(?:unix|unixgram|npipe|vsock|fd):|^\/(?!\/)/i

/** Classifies the host of an address; null if public, allowed or no address. A socket counts as this machine. */
export function addressReach(text: string, place: Place, form: 'url' | 'host' = 'url'): Reach | null {
  const address = text.trim()
  if (SOCKET.test(address)) return form === 'host' || !address.startsWith('/') ? 'this machine' : null
  const host = URL_HOST.exec(address)?.[1] ?? (form === 'host' ? BARE_HOST.exec(address)?.[1] : undefined)
  if (host === undefined || host === '') return null
  const reach = hostReach(decodeOrKeep(host))
  return reach !== null && !isAllowed(host, place.allowedHosts) ? reach : null
}

function isAllowed(host: string, allowed: readonly string[]): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  return allowed.some((entry) => {
    if (entry.toLowerCase().replace(/:\d+$/, '') === bare || entry.toLowerCase() === bare) return true
    if (!ipaddr.isValid(bare) || !ipaddr.isValidCIDR(entry)) return false
    const address = ipaddr.process(bare)
    const [base, bits] = ipaddr.parseCIDR(entry)
    return address.kind() === base.kind() && address.match(base, bits)
  })
}

/** Returns the reason for refusing an address; null for one without a `reach`. */
export const addressWhy = (reach: Reach | null): string | null => reach && `the address leads to ${reach}`

/** The target of an address that is not public, in words for a diagnostic. */
type Reach = 'this machine' | 'a link-local service such as the metadata of the cloud' | 'a private network'

const LOCAL_NAME = /^(?:localhost|ip6-localhost|ip6-loopback|host\.docker\.internal|host\.containers\.internal)$/
const METADATA_NAME = /^(?:metadata|metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)$/
/** Public names that resolve to the address inside them. */
const ADDRESS_IN_NAME = /(\d{1,3}(?:[.-]\d{1,3}){3})\.(?:nip|sslip)\.io$/

/**
 * Returns the target of a host; null for a public one and for a name that needs a look-up. Understands every spelling
 * that resolvers accept, such as octal and short forms, IPv4 inside IPv6 and full-width digits.
 */
function hostReach(host: string): Reach | null {
  const name = canonicalHost(host)
  if (name === null) return null
  const bare = name.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
  if (LOCAL_NAME.test(bare) || bare.endsWith('.localhost') || bare === hostname().toLowerCase()) return 'this machine'
  if (METADATA_NAME.test(bare)) return 'a link-local service such as the metadata of the cloud'
  const inner = ADDRESS_IN_NAME.exec(bare)?.[1]
  const octal = leadingZeros(host)
  for (const address of [bare, inner?.replaceAll('-', '.'), octal]) {
    const reach = address === undefined ? null : ipReach(address)
    if (reach !== null) return reach
  }
  return null
}

/** Returns the host in the form of the URL parser: IPv4 as four decimals, names in lower case. */
function canonicalHost(host: string): string | null {
  const text = host.trim()
  const candidates = [text, `[${text.replace(/^\[|\]$/g, '').replace(/%.*$/, '')}]`]
  const url = candidates.map((candidate) => URL.parse(`http://${candidate}/`)).find((parsed) => parsed !== null)
  return url?.hostname ?? null
}

/** Go reads `010.0.0.1` literally, other resolvers as octal: both readings are checked. */
function leadingZeros(host: string): string | undefined {
  const parts = /^\[?(\d{1,10}(?:\.\d{1,10}){3})\]?(?::\d+)?$/.exec(host.trim())?.[1]
  return parts?.split('.').map(Number).join('.')
}

function ipReach(text: string): Reach | null {
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.process(text)
  if (ownAddresses().includes(address.toString())) return 'this machine'
  if (address.kind() === 'ipv6') {
    const bytes = address.toByteArray()
    const embedded = EMBEDDINGS.find(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte))
    if (embedded && address.toString() !== '::1' && address.toString() !== '::')
      return ipReach(bytes.slice(embedded.at, embedded.at + 4).join('.'))
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

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((of) => of ?? [])
    .map(({ address }) => ipaddr.process(address.replace(/%.*$/, '')).toString())
