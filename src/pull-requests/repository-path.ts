import type { GitConfig } from '../../config/types.ts'
import { badRequest, type PlatformError } from '../base/errors.ts'

/** Reads owner and name, decoding escapes. Errors: 400 `Malformed repository URL '…'`, also for other hosts. */
export function parseGithubRepository(git: GitConfig, uri: string): { owner: string; repo: string } {
  const { segments, malformed } = splitUri(git, uri)
  const [owner, repo] = segments
  if (!owner || !repo) throw malformed
  return { owner, repo }
}

/** Does the same for GitLab; subgroups are not supported. */
export function parseGitlabProject(git: GitConfig, uri: string): { namespace: string; project: string } {
  const { segments, malformed } = splitUri(git, uri)
  const [namespace, project] = segments
  if (segments.length !== 2 || !namespace || !project) throw malformed
  return { namespace, project }
}

/** Does the same for Azure DevOps: `host/organization/project/_git/repository`. */
export function parseAzureRepository(
  git: GitConfig,
  uri: string,
): { organization: string; project: string; repository: string } {
  const { segments, malformed } = splitUri(git, uri)
  const [organization, project, marker, repository] = segments
  if (segments.length !== 4 || marker !== '_git' || !organization || !project || !repository) throw malformed
  return { organization, project, repository }
}

/** Splits an address into path segments; credentials, query, fragment and `.git` are removed, also in error texts. */
function splitUri(git: GitConfig, uri: string): { segments: string[]; malformed: PlatformError } {
  const withoutCredentials = uri
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^[^/]*@/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  const malformed = badRequest(`Malformed repository URL '${withoutCredentials}'`)
  const [host = '', ...raw] = withoutCredentials.split('/')
  const segments = raw.map(decodeSegment)
  if (host.toLowerCase().replace(/:443$/, '') !== git.host.toLowerCase() || !segments.every(isName)) throw malformed
  return { segments, malformed }
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
