import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { allowedAddresses, type HostResolver, type PinnedFetch } from './allowed-addresses.ts'

/** What talking to a remote needs; a `Context` has it. */
export interface GitContext {
  config: { git: GitConfig }
  log: Logger
  fetch: Fetch
  resolver: HostResolver
  /** For hosts that a caller names; without it `fetch` is used. */
  pinnedFetch?: PinnedFetch
}

/**
 * The address that is really asked: without user, query and fragment, because credentials come from
 * the configuration alone. GitLab answers only below `.git` without a redirect, and none is followed.
 */
export function remoteUrl(git: GitConfig, uri: string): URL {
  const url = new URL(uri)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '')
  const gitlab = url.host === 'gitlab.com' || (git.provider === 'GITLAB' && isConfiguredHost(git, url))
  if (gitlab && !url.pathname.endsWith('.git')) url.pathname += '.git'
  return url
}

/** True for the one host that gets the platform's credentials. */
export const isConfiguredHost = (git: GitConfig, url: URL): boolean =>
  url.protocol === 'https:' && url.host === git.host.toLowerCase()

/** True for hosts that the operator has named: the configured one and those that may be private. */
export const isOperatorsHost = (git: GitConfig, url: URL): boolean =>
  isConfiguredHost(git, url) ||
  git.allow_private_hosts.includes(url.host) ||
  git.allow_private_hosts.includes(url.hostname)

/** `host[:port]/path` for logs: a user name may be a token in disguise. */
export function loggableUri(uri: string): string {
  if (!URL.canParse(uri)) return '(unreadable)'
  const url = new URL(uri)
  return url.host + url.pathname
}

/**
 * The `fetch` for one conversation with a repository host: its addresses are looked up and checked
 * here, and connections go to them alone, so that a name which answers otherwise a moment later
 * leads nowhere. Where a context has no pinned `fetch`, only the certificate stands against that.
 * Errors: those of `allowedAddresses`.
 */
export async function checkedFetch(context: GitContext, url: URL, signal?: AbortSignal): Promise<Fetch> {
  const addresses = await allowedAddresses(context.config.git, context.resolver, url, signal)
  return context.pinnedFetch?.(url, addresses) ?? context.fetch
}
