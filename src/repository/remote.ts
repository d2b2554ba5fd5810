import type { GitConfig } from '../../config/types.ts'
import type { Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { atAzureDevops, isBelowBase } from './address.ts'

/** The parts of a `Context` for remote repositories. */
export interface GitContext {
  config: { git: GitConfig }
  log: Logger
  fetch: Fetch
  resolver: HostResolver
  /** Fetch for hosts that callers name; `fetch` is used without it. */
  pinnedFetch?: PinnedFetch
}

/**
 * Returns the request address, without user, query and fragment, and at the host that gets the credentials where Azure
 * DevOps has two; GitLab redirects addresses without `.git`.
 */
export function remoteUrl(git: GitConfig, uri: string): URL {
  const url = new URL(uri)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '')
  const moved = atAzureDevops(git, url.host, url.pathname)
  if (moved) {
    url.host = moved.host
    url.pathname = moved.path
  }
  const gitlab = url.host === 'gitlab.com' || (git.provider === 'GITLAB' && isConfiguredHost(git, url))
  if (gitlab && !url.pathname.endsWith('.git')) url.pathname += '.git'
  return url
}

/** Reports whether the address is on the configured server, the only one that gets credentials. */
export const isConfiguredHost = (git: GitConfig, url: URL): boolean =>
  url.protocol === 'https:' && url.host === git.host.toLowerCase() && isBelowBase(git, url.pathname)

/** Reports whether the configuration names the host, as its own or in `git.allow_private_hosts`. */
export const isOperatorsHost = (git: GitConfig, url: URL): boolean =>
  isConfiguredHost(git, url) ||
  git.allow_private_hosts.includes(url.host) ||
  git.allow_private_hosts.includes(url.hostname)

/** Returns `host[:port]/path` for logs, without the user, which may be a token. */
export function loggableUri(uri: string): string {
  if (!URL.canParse(uri)) return '(unreadable)'
  const url = new URL(uri)
  return url.host + url.pathname
}

/** Resolves a host name to IP addresses; injected, because web standards have no such function. */
export type HostResolver = (host: string, signal?: AbortSignal) => Promise<string[]>

/** Creates a `fetch` that connects only to these IP addresses of a host and follows no redirects. */
export type PinnedFetch = (url: URL, addresses: readonly string[]) => Fetch

/** Returns the last part of a repository's address in lower case, without `.git`. */
export const repositoryName = ({ pathname }: URL): string =>
  pathname
    .slice(pathname.lastIndexOf('/') + 1)
    .replace(/\.git$/, '')
    .toLowerCase()
