import type { GitConfig } from '../../config/types.ts'
import { badRequest } from '../errors.ts'

/**
 * Owner and name of a repository at GitHub, letter case kept.
 * Errors: 400 `Malformed repository URL '…'` for any host but the configured one, and for too short paths.
 */
export function githubRepository(git: GitConfig, uri: string): { owner: string; repo: string } {
  const { shown, host, segments } = split(uri)
  const [owner, repo] = segments
  if (host !== git.host.toLowerCase() || !owner || !repo) throw badRequest(`Malformed repository URL '${shown}'`)
  return { owner, repo }
}

/** Without scheme and userinfo, which may be a token; `.git` and the last slash removed. */
function split(uri: string): { shown: string; host: string; segments: string[] } {
  const shown = uri
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^[^/]*@/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  const [host = '', ...segments] = shown.split('/')
  return { shown, host: host.toLowerCase(), segments }
}
