import { listServerRefs } from 'isomorphic-git'
import { badGateway, internal, PlatformError, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { gitHttp } from './git-http.ts'
import { checkedFetch, type GitContext, isConfiguredHost, loggableUri, remoteUrl } from './remote.ts'

const MAX_BYTES = 32 * 1024 * 1024

/** What a remote's HEAD points at; `branch` is null when the server does not say. */
interface RemoteHead {
  commit: string
  branch: string | null
}

/**
 * Asks a remote for its HEAD over HTTPS, credentials only for the configured host. Answers null for a
 * repository without commits; throws plain errors for everything else, which are for the log only.
 */
async function remoteHead(
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

const LIST_TIMEOUT_MS = 20_000

/**
 * Refuses a repository that cannot be listed, is empty, or lives at an address that is not public.
 * Errors: 400 with one fixed text for all of these; the reason is in the log only.
 */
export async function assertReachable(context: GitContext, uri: string, signal?: AbortSignal): Promise<void> {
  await reachableHead(context, uri, signal)
}

/** As `assertReachable`; answers what HEAD points at. */
export async function reachableHead(context: GitContext, uri: string, signal?: AbortSignal): Promise<RemoteHead> {
  const head = await remoteHead(context, uri, { timeout_ms: LIST_TIMEOUT_MS, signal }).catch((error: unknown) =>
    refuse(context, uri, error),
  )
  return head ?? refuse(context, uri, new Error('the repository is empty'))
}

function refuse(context: GitContext, uri: string, error: unknown): never {
  context.log.warn('repository is not reachable', { repository: loggableUri(uri), reason: error })
  throw error instanceof PlatformError ? error : repositoryUnreachable(error)
}

/**
 * Name of the branch that a remote's HEAD points at.
 * Errors: 502 when the remote cannot be listed, 500 when it names no branch.
 */
export async function defaultBranch(context: GitContext, uri: string, signal?: AbortSignal): Promise<string> {
  const head = await remoteHead(context, uri, { timeout_ms: LIST_TIMEOUT_MS, signal }).catch((error: unknown) => {
    context.log.warn('default branch is not known', { repository: loggableUri(uri), reason: error })
    throw badGateway(REPOSITORY_UNREACHABLE, error)
  })
  if (!head?.branch) throw internal('No match git default branch ls-remote')
  return head.branch
}
