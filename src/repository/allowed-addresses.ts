import ipaddr from 'ipaddr.js'
import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { isConfiguredHost } from './remote.ts'

/** Name look-up, injected because the standard web interfaces have none. Addresses as text. */
export type HostResolver = (host: string, signal?: AbortSignal) => Promise<string[]>

/**
 * A `fetch` for the origin of this address that connects to these addresses of its host, and to no
 * others. It follows no redirect.
 */
export type PinnedFetch = (url: URL, addresses: readonly string[]) => Fetch

const RESOLVE_TIMEOUT_MS = 5_000

/**
 * Addresses of a repository host that may be contacted. Hosts of `git.allow_private_hosts` and the
 * configured self-hosted server may have any address, all others only public ones. Connect to these
 * addresses and no others: the next look-up of the name may answer otherwise.
 * Throws when one address of the host is not public, or within 5 s when nothing can be resolved.
 */
export async function allowedAddresses(
  git: GitConfig,
  resolver: HostResolver,
  url: URL,
  signal?: AbortSignal,
): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = ipaddr.isValid(host) ? [host] : await resolve(resolver, host, signal)
  if (addresses.length === 0) throw new Error('the host has no address')
  if (!mayBePrivate(git, url)) {
    const refused = addresses.find((address) => !isPublicAddress(address))
    if (refused !== undefined) throw new Error(`the host has the address ${refused}, which is not public`)
  }
  return addresses
}

function mayBePrivate(git: GitConfig, url: URL): boolean {
  if (git.base_url !== '' && isConfiguredHost(git, url)) return true
  return git.allow_private_hosts.includes(url.host) || git.allow_private_hosts.includes(url.hostname)
}

async function resolve(resolver: HostResolver, host: string, signal?: AbortSignal): Promise<string[]> {
  const timeout = AbortSignal.timeout(RESOLVE_TIMEOUT_MS)
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout
  const givenUp = new Promise<never>((_, reject) => {
    either.addEventListener('abort', () => reject(new Error('the host was not resolved in time')), { once: true })
  })
  return Promise.race([resolver(host, either), givenUp])
}

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
