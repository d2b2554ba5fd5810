import {
  badGateway,
  badRequest,
  DEFAULT_BRANCH_EMPTY,
  internal,
  PlatformError,
  REPOSITORY_EMPTY,
  REPOSITORY_MOVED,
  REPOSITORY_UNREACHABLE,
  repositoryUnreachable,
} from '../base/errors.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { createGitHttp, refusalOf } from './git-http.ts'
import { type GitContext, isConfiguredHost, loggableUri, remoteUrl } from './remote.ts'
import { gitAuthorization } from './sign-in.ts'

const MAX_BYTES = 32 * 1024 * 1024

/**
 * Reads commit and branch of a remote's HEAD; `branch` is null when the server does not name it. Null without commits.
 * Only the configured host gets credentials. Errors: plain ones, for the log only.
 */
async function readRemoteHead(context: GitContext, uri: string, options: { timeoutMs: number; signal?: AbortSignal }) {
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
  const signal = withDeadline(options.signal, options.timeoutMs)
  const fetch = await createCheckedFetch(context, url, signal)
  const { listServerRefs } = await import('isomorphic-git')
  return await listServerRefs({
    http: createGitHttp(fetch, { ...options, signal, maxBytes: MAX_BYTES }),
    url: url.href,
    prefix,
    symrefs: true,
    ...credentials(context, url),
  })
}

/** Returns a signal that also ends after these milliseconds, however often a request is repeated. */
export function withDeadline(signal: AbortSignal | undefined, ms: number): AbortSignal {
  const timeout = AbortSignal.timeout(ms)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

/** Returns options with which isomorphic-git answers a 401 with credentials; none for other hosts. */
export function credentials(context: GitContext, url: URL) {
  const { git } = context.config
  if (!isConfiguredHost(git, url) || !git.user || !git.token) return {}
  return { onAuth: () => ({ headers: { authorization: gitAuthorization(git) } }) }
}

const LIST_TIMEOUT_MS = 20_000

/**
 * Reads HEAD, and throws when a repository cannot be read, is empty or has an address that is not public. Errors: 400;
 * the text says that a repository is empty, and is the same for all other reasons, so that callers cannot explore a
 * private network. Only the log has the reason.
 */
export async function readReachableHead(context: GitContext, uri: string, signal?: AbortSignal) {
  const options = { timeoutMs: LIST_TIMEOUT_MS, signal }
  try {
    const head = await readRemoteHead(context, uri, options)
    if (head) return head
    const branches = await listRefs(context, uri, 'refs/heads/', options)
    throw badRequest(branches.length === 0 ? REPOSITORY_EMPTY : DEFAULT_BRANCH_EMPTY)
  } catch (error) {
    refuseRepository(context, uri, error)
  }
}

function refuseRepository(context: GitContext, uri: string, error: unknown): never {
  context.log.warn('repository is not reachable', { repository: loggableUri(uri), reason: error })
  const hasMoved = [301, 302, 307, 308].includes(refusalOf(error) ?? 0)
  if (hasMoved && isConfiguredHost(context.config.git, remoteUrl(context.config.git, uri)))
    throw badRequest(REPOSITORY_MOVED, error)
  throw error instanceof PlatformError ? error : repositoryUnreachable(error)
}

/**
 * Reads the default branch of a remote, and whether a branch is there and has a commit that its head is not. Errors:
 * 502 when it cannot be read, 500 when its HEAD names no branch.
 */
export async function compareWithDefaultBranch(
  context: GitContext,
  uri: string,
  branch: string,
  signal?: AbortSignal,
): Promise<{ base: string; exists: boolean; differs: boolean }> {
  const options = { timeoutMs: LIST_TIMEOUT_MS, signal }
  const [head, commit] = await Promise.all([
    readRemoteHead(context, uri, options),
    readBranchHead(context, uri, branch, options),
  ]).catch((error: unknown) => {
    context.log.warn('default branch is not known', { repository: loggableUri(uri), reason: error })
    throw badGateway(REPOSITORY_UNREACHABLE, error)
  })
  if (!head?.branch) throw internal('No match git default branch ls-remote')
  return { base: head.branch, exists: commit !== null, differs: commit !== null && commit !== head.commit }
}

/** Reads the commit of a remote's branch; null when there is no such branch. Errors: plain, for the log only. */
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
