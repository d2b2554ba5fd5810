import { listServerRefs } from 'isomorphic-git'
import { badGateway, internal, PlatformError, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { createGitHttp } from './git-http.ts'
import { type GitContext, isConfiguredHost, loggableUri, remoteUrl } from './remote.ts'

const MAX_BYTES = 32 * 1024 * 1024

/** The commit and branch that a remote's HEAD points at. `branch` is null when the server does not name it. */
interface RemoteHead {
  commit: string
  branch: string | null
}

/**
 * Asks a remote for its HEAD over HTTPS. Only the configured host gets the platform's credentials. Answers null for a
 * repository without commits. Errors: plain ones, which are for the log only.
 */
async function readRemoteHead(
  context: GitContext,
  uri: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<RemoteHead | null> {
  const refs = await listRefs(context, uri, 'HEAD', options)
  const head = refs.find(({ ref }) => ref === 'HEAD')
  return head ? { commit: head.oid, branch: head.target?.replace(/^refs\/heads\//, '') ?? null } : null
}

async function listRefs(
  context: GitContext,
  uri: string,
  prefix: string,
  options: { timeoutMs: number; signal?: AbortSignal },
) {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await createCheckedFetch(context, url, options.signal)
  return await listServerRefs({
    http: createGitHttp(fetch, { ...options, maxBytes: MAX_BYTES }),
    url: url.href,
    prefix,
    symrefs: true,
    ...credentials(context, url),
  })
}

/** Options that make isomorphic-git answer a 401 with the platform's credentials; none for any other host. */
export function credentials(context: GitContext, url: URL) {
  const { git } = context.config
  if (!isConfiguredHost(git, url) || !git.user || !git.token) return {}
  return { onAuth: () => ({ username: git.user, password: git.token }) }
}

const LIST_TIMEOUT_MS = 20_000

/**
 * Throws when a repository cannot be read, is empty or has an address that is not public. Errors: 400, with the same
 * text for all of these, so that callers cannot explore a private network with it. The reason is in the log only.
 */
export async function assertReachable(context: GitContext, uri: string, signal?: AbortSignal): Promise<void> {
  await readReachableHead(context, uri, signal)
}

/** Does the same as `assertReachable` and answers what HEAD points at. */
export async function readReachableHead(context: GitContext, uri: string, signal?: AbortSignal): Promise<RemoteHead> {
  const head = await readRemoteHead(context, uri, { timeoutMs: LIST_TIMEOUT_MS, signal }).catch((error: unknown) =>
    refuseRepository(context, uri, error),
  )
  return head ?? refuseRepository(context, uri, new Error('the repository is empty'))
}

function refuseRepository(context: GitContext, uri: string, error: unknown): never {
  context.log.warn('repository is not reachable', { repository: loggableUri(uri), reason: error })
  throw error instanceof PlatformError ? error : repositoryUnreachable(error)
}

/**
 * Reads the name of the branch that a remote's HEAD points at. Errors: 502 when the remote cannot be read, 500 when it
 * names no branch.
 */
export async function readDefaultBranch(context: GitContext, uri: string, signal?: AbortSignal): Promise<string> {
  const head = await readRemoteHead(context, uri, { timeoutMs: LIST_TIMEOUT_MS, signal }).catch((error: unknown) => {
    context.log.warn('default branch is not known', { repository: loggableUri(uri), reason: error })
    throw badGateway(REPOSITORY_UNREACHABLE, error)
  })
  if (!head?.branch) throw internal('No match git default branch ls-remote')
  return head.branch
}

/**
 * Reads the commit that a branch of a remote is at; null when the remote has no such branch. Errors: plain ones, which
 * are for the log only.
 */
export async function readBranchHead(
  context: GitContext,
  uri: string,
  branch: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<string | null> {
  const name = `refs/heads/${branch}`
  const refs = await listRefs(context, uri, name, options)
  return refs.find(({ ref }) => ref === name)?.oid ?? null
}
