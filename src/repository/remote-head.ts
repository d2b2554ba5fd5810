import { listServerRefs } from 'isomorphic-git'
import { checkedFetch } from './checked-fetch.ts'
import { gitHttp } from './git-http.ts'
import { type GitContext, isConfiguredHost, remoteUrl } from './remote.ts'

const MAX_BYTES = 32 * 1024 * 1024

/** What a remote's HEAD points at; `branch` is null when the server does not say. */
export interface RemoteHead {
  commit: string
  branch: string | null
}

/**
 * Asks a remote for its HEAD over HTTPS, credentials only for the configured host. Answers null for a
 * repository without commits; throws plain errors for everything else, which are for the log only.
 */
export async function remoteHead(
  context: GitContext,
  uri: string,
  options: { timeout_ms: number; signal?: AbortSignal },
): Promise<RemoteHead | null> {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await checkedFetch(context, url, options.signal)
  const refs = await listServerRefs({
    http: gitHttp(fetch, { ...options, max_bytes: MAX_BYTES }),
    url: url.href,
    prefix: 'HEAD',
    symrefs: true,
    ...credentials(context, url),
  })
  const head = refs.find(({ ref }) => ref === 'HEAD')
  return head ? { commit: head.oid, branch: head.target?.replace(/^refs\/heads\//, '') ?? null } : null
}

/** Answers a remote's 401 once with the platform's credentials, and only the configured host's. */
export function credentials(context: GitContext, url: URL) {
  const { git } = context.config
  if (!isConfiguredHost(git, url) || !git.user || !git.token) return {}
  return { onAuth: () => ({ username: git.user, password: git.token }) }
}
