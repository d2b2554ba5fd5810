import type { GitConfig } from '../../config/types.ts'
import { badRequest, type PlatformError } from '../base/errors.ts'

/**
 * What a repository is called at its provider, letter case kept, percent escapes resolved.
 * Errors: 400 `Malformed repository URL '…'` for any host but the configured one and for other paths.
 */
export function githubRepository(git: GitConfig, uri: string): { owner: string; repo: string } {
  const { segments, malformed } = split(git, uri)
  const [owner, repo] = segments
  if (!owner || !repo) throw malformed
  return { owner, repo }
}

/** As `githubRepository`; the namespace is one segment, there are no subgroups. */
export function gitlabProject(git: GitConfig, uri: string): { namespace: string; project: string } {
  const { segments, malformed } = split(git, uri)
  const [namespace, project] = segments
  if (segments.length !== 2 || !namespace || !project) throw malformed
  return { namespace, project }
}

/** As `githubRepository`. */
export function azureRepository(
  git: GitConfig,
  uri: string,
): { organization: string; project: string; repository: string } {
  const { segments, malformed } = split(git, uri)
  const [organization, project, marker, repository] = segments
  if (segments.length !== 4 || marker !== '_git' || !organization || !project || !repository) throw malformed
  return { organization, project, repository }
}

/** Without scheme and userinfo, which may be a token, query and fragment; `.git` and the last slash removed. */
function split(git: GitConfig, uri: string): { segments: string[]; malformed: PlatformError } {
  const shown = uri
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^[^/]*@/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  const malformed = badRequest(`Malformed repository URL '${shown}'`)
  const [host = '', ...raw] = shown.split('/')
  const segments = raw.map(decoded)
  if (host.toLowerCase().replace(/:443$/, '') !== git.host.toLowerCase() || !segments.every(isName)) throw malformed
  return { segments, malformed }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** Dots and slashes would lead to another address of the provider's interface. */
const isName = (segment: string): boolean => !['', '.', '..'].includes(segment) && !/[/\\]/.test(segment)
