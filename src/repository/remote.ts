import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'

/** The parts of a `Context` that calls of a remote repository use. */
export interface GitContext {
  config: { git: GitConfig }
  log: Logger
  fetch: Fetch
  resolver: HostResolver
  /** For hosts that a caller names; without it `fetch` is used. */
  pinnedFetch?: PinnedFetch
}

/**
 * The address that requests go to. User, query and fragment are removed, because credentials come from the
 * configuration alone. For GitLab `.git` is added: it redirects other addresses, and redirects are not followed.
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

/** Reports whether the address is on the configured host, the only one that gets the platform's credentials. */
export const isConfiguredHost = (git: GitConfig, url: URL): boolean =>
  url.protocol === 'https:' && url.host === git.host.toLowerCase()

/** Reports whether the configuration names the host: as the configured one or in `git.allow_private_hosts`. */
export const isOperatorsHost = (git: GitConfig, url: URL): boolean =>
  isConfiguredHost(git, url) ||
  git.allow_private_hosts.includes(url.host) ||
  git.allow_private_hosts.includes(url.hostname)

/** The address as `host[:port]/path`, for logs. The user name is left out because it may be a token. */
export function loggableUri(uri: string): string {
  if (!URL.canParse(uri)) return '(unreadable)'
  const url = new URL(uri)
  return url.host + url.pathname
}

/**
 * Looks up the IP addresses of a host name and answers them as texts. It is injected, because the web standards have no
 * such function.
 */
export type HostResolver = (host: string, signal?: AbortSignal) => Promise<string[]>

/** Makes a `fetch` for the host of `url` that connects to these IP addresses alone. It does not follow redirects. */
export type PinnedFetch = (url: URL, addresses: readonly string[]) => Fetch
