import type { GitConfig, GitProvider } from '../../config/types.ts'
import { badRequest } from '../base/errors.ts'

/** The path of a repository at each provider; subgroups of GitLab are not supported. */
const FORMS: Record<GitProvider, (segments: readonly string[]) => boolean> = {
  GITHUB: ({ length }) => length >= 2,
  GITLAB: ({ length }) => length === 2,
  AZURE_DEVOPS: ({ length, 2: marker }) => length === 4 && marker === '_git',
}

/**
 * Returns the segments of a repository's path at its provider, with escapes decoded: `<owner>/<name>` at GitHub,
 * `<namespace>/<project>` at GitLab, `<organization>/<project>/_git/<repository>` at Azure DevOps. Credentials, query,
 * fragment and `.git` are removed, also in error texts.
 * Errors: 400 `Malformed repository URL '…'`, also for other hosts.
 */
export function readRepositoryPath(git: GitConfig, uri: string): string[] {
  const withoutCredentials = uri
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^[^/]*@/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  const [host = '', ...raw] = withoutCredentials.split('/')
  const segments = raw.map(decodeSegment)
  const isHost = host.toLowerCase().replace(/:443$/, '') === git.host.toLowerCase()
  if (!isHost || !segments.every(isName) || !FORMS[git.provider](segments))
    throw badRequest(`Malformed repository URL '${withoutCredentials}'`)
  return segments
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
