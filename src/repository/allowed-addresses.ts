import ipaddr from 'ipaddr.js'
import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import { waitUnlessAborted } from '../base/time.ts'
import { followMoves } from './moved.ts'
import { type GitContext, type HostResolver, isConfiguredHost } from './remote.ts'

const RESOLVE_TIMEOUT_MS = 5_000

/**
 * Looks up a repository host and checks that its addresses may be contacted: any for hosts in `git.allow_private_hosts`
 * and the configured server, else only public ones. The caller must connect only to these addresses, because the next
 * look-up may differ. Errors: plain ones, when one address is not public or the look-up fails or takes more than 5 s.
 */
export async function resolveAllowedAddresses(
  git: GitConfig,
  resolver: HostResolver,
  url: URL,
  signal?: AbortSignal,
): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = ipaddr.isValid(host) ? [host] : await resolveInTime(resolver, host, signal)
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

async function resolveInTime(resolver: HostResolver, host: string, signal?: AbortSignal): Promise<string[]> {
  const timeout = AbortSignal.timeout(RESOLVE_TIMEOUT_MS)
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout
  try {
    return await waitUnlessAborted(resolver(host, deadline), deadline)
  } catch (error) {
    if (deadline.aborted) throw new Error('the host was not resolved in time')
    throw error
  }
}

/** Reports whether an IP address is public. Embedded IPv4 addresses (mapped, NAT64, 6to4) decide for IPv6. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address.kind() === 'ipv4') return address.range() === 'unicast'
  const inner = embeddedIpv4(address.toByteArray())
  if (inner) return isPublicAddress(inner)
  return address.range() === 'unicast' && !isCompatible(address.toByteArray())
}

/** IPv6 prefixes with an embedded IPv4 address, and the byte where it begins (RFC 4291, 6052, 8215, 3056). */
const EMBEDDINGS: readonly { prefix: number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], at: 12 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], at: 12 },
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], at: 12 },
  { prefix: [0x20, 0x02], at: 2 },
]

function embeddedIpv4(bytes: number[]): string | null {
  for (const { prefix, at } of EMBEDDINGS)
    if (prefix.every((byte, index) => bytes[index] === byte)) return bytes.slice(at, at + 4).join('.')
  return null
}

/** Reports whether the address has the form `::a.b.c.d`, withdrawn by RFC 4291 and unused on the internet. */
const isCompatible = (bytes: number[]): boolean => bytes.slice(0, 12).every((byte) => byte === 0)

/**
 * Creates the `fetch` for one exchange with a repository host, limited to the addresses that were checked; a host could
 * otherwise turn private after the check. Without `pinnedFetch` only the host's certificate prevents that. A repository
 * that moved at its host is read at its new address. Errors: those of `resolveAllowedAddresses`.
 */
export async function createCheckedFetch(context: GitContext, url: URL, signal?: AbortSignal): Promise<Fetch> {
  const addresses = await resolveAllowedAddresses(context.config.git, context.resolver, url, signal)
  return followMoves(context.pinnedFetch?.(url, addresses) ?? context.fetch, context.config.git, url)
}
