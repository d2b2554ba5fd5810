import type { GitConfig, GitProvider } from '../../config/types.ts'
import { badRequest } from '../base/errors.ts'

const AZURE_DEVOPS = 'dev.azure.com'

/** Returns the path below which the configured server has its repositories, such as `/gitlab`; empty for none. */
export const basePath = ({ base_url }: GitConfig): string =>
  base_url === '' ? '' : new URL(base_url).pathname.replace(/\/+$/, '')

/** Returns the address of the configured server, with its path and without a slash at the end. */
export const serverUrl = (git: GitConfig): string => `https://${git.host}${basePath(git)}`

/** Reports whether a path lies below that of the configured server. Servers of Azure DevOps ignore letter case. */
export function isBelowBase(git: GitConfig, pathname: string): boolean {
  const fold = (path: string) => (git.provider === 'AZURE_DEVOPS' ? path.toLowerCase() : path)
  return fold(pathname).startsWith(fold(`${basePath(git)}/`))
}

/**
 * Returns host and path of the same repository at `dev.azure.com` for an address of the form
 * `<organization>.visualstudio.com/[DefaultCollection/]…`; null for others, and with another provider or server.
 */
export function atAzureDevops(git: GitConfig, host: string, pathname: string): { host: string; path: string } | null {
  const [, organization] = /^([a-z0-9-]+)\.visualstudio\.com(?::443)?$/i.exec(host) ?? []
  if (git.provider !== 'AZURE_DEVOPS' || git.base_url !== '' || organization === undefined) return null
  return { host: AZURE_DEVOPS, path: `/${organization}${pathname.replace(/^\/DefaultCollection(?=\/)/i, '')}` }
}

/** The names in a path of the provider; null for another path. */
const READERS: Record<GitProvider, (segments: readonly string[], git: GitConfig) => string[] | null> = {
  GITHUB: (segments) => (segments.length >= 2 ? withoutSuffix(segments) : null),
  // `-` stands before the pages of a project, and no group can have this name.
  GITLAB: (segments) => (segments.length >= 2 && !segments.includes('-') ? withoutSuffix(segments) : null),
  AZURE_DEVOPS: (all, { base_url }) => {
    // `_optimized` and `_full` say how much a clone reads, before the name of the repository.
    const segments = /^_(optimized|full)$/.test(all.at(-2) ?? '') ? [...all.slice(0, -2), ...all.slice(-1)] : all
    const [marker, repository = ''] = segments.slice(-2)
    const above = segments.slice(0, -2)
    if (marker !== '_git' || above.length === 0 || above.includes('_git')) return null
    // The repository that has the name of its project needs no project in its address.
    if (above.length === 1) return [...above, repository, '_git', repository]
    // A server may have its collections below a path.
    return above.length === 2 || base_url !== '' ? [...segments] : null
  },
}

const withoutSuffix = (segments: readonly string[]): string[] => [
  ...segments.slice(0, -1),
  (segments.at(-1) ?? '').replace(/\.git$/, ''),
]

/**
 * Returns the segments of a repository's path at the configured server, with escapes decoded: `<owner>/<name>/…` at
 * GitHub, `<group>/…/<project>` at GitLab, `<organization or collection>/<project>/_git/<repository>` at Azure DevOps,
 * where a server may have further segments before. Credentials, query, fragment and the path of the server are removed,
 * and `.git` where it is no part of a name. Errors: 400 `Malformed repository URL '…'`, also for other hosts.
 */
export function readRepositoryPath(git: GitConfig, uri: string): string[] {
  const address = uri
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^[^/]*@/, '')
    .replace(/\/+$/, '')
  const malformed = badRequest(`Malformed repository URL '${address.replace(/\.git$/, '')}'`)
  const slash = address.indexOf('/')
  if (slash < 0) throw malformed
  const given = { host: address.slice(0, slash), path: address.slice(slash) }
  const { host, path } = atAzureDevops(git, given.host, given.path) ?? given
  if (host.toLowerCase().replace(/:443$/, '') !== git.host.toLowerCase() || !isBelowBase(git, path)) throw malformed
  const segments = path
    .slice(basePath(git).length + 1)
    .split('/')
    .map(decodeSegment)
  const names = segments.every(isName) ? READERS[git.provider](segments, git) : null
  if (!names?.every(isName)) throw malformed
  return names
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** Reports whether a segment is a name; dot segments and slashes would lead to another path. */
const isName = (segment: string): boolean => !['', '.', '..'].includes(segment) && !/[/\\]/.test(segment)
