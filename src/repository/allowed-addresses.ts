import ipaddr from 'ipaddr.js'
import type { GitConfig } from '../../config/types.ts'
import { isPublicAddress } from './address.ts'
import { isConfiguredHost } from './remote.ts'
import type { HostResolver } from './types.ts'

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
  const given_up = new Promise<never>((_, reject) => {
    either.addEventListener('abort', () => reject(new Error('the host was not resolved in time')), { once: true })
  })
  return Promise.race([resolver(host, either), given_up])
}
