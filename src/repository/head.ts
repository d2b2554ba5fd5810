import { badGateway, internal, PlatformError, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { DELIMITER, FLUSH, packetLine, readLines } from './packets.ts'
import { type GitContext, isConfiguredHost, loggableUri, remoteUrl } from './remote.ts'
import { branchOf, type Discovery, openRemote, type Remote, type RemoteHead } from './smart-http.ts'

/** The answer to a question for HEAD alone is short. */
const MAX_HEAD_BYTES = 1024 * 1024
const MAX_HEAD_LINES = 64

/**
 * Connects to a remote over HTTPS, at addresses that may be contacted. Only the configured host gets the platform's
 * credentials.
 * Errors: plain ones, which are for the log only.
 */
export async function connectRemote(
  context: GitContext,
  uri: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<Remote> {
  const { git } = context.config
  const url = remoteUrl(git, uri)
  const fetch = await createCheckedFetch(context, url, options.signal)
  const mayLogIn = isConfiguredHost(git, url) && git.user !== '' && git.token !== ''
  return openRemote(fetch, url, { ...options, login: mayLogIn ? { user: git.user, password: git.token } : null })
}

/**
 * Asks a remote for its HEAD. Answers null for a repository without commits.
 * Errors: plain ones, which are for the log only.
 */
async function readRemoteHead(
  context: GitContext,
  uri: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<RemoteHead | null> {
  const remote = await connectRemote(context, uri, options)
  return await askForHead(remote, await remote.discover())
}

async function askForHead(remote: Remote, { version, head }: Discovery): Promise<RemoteHead | null> {
  if (version === 1) return head
  const question = [
    packetLine('command=ls-refs'),
    DELIMITER,
    packetLine('symrefs'),
    packetLine('ref-prefix HEAD'),
    FLUSH,
  ]
  const lines = readLines(await remote.call(question.join(''), version, MAX_HEAD_BYTES), MAX_HEAD_LINES)
  for (const line of lines) {
    const [, commit, attributes = ''] = /^([0-9a-f]{40}) HEAD( .*)?$/.exec(line) ?? []
    if (commit) return { commit, branch: branchOf(/ symref-target:(\S+)/.exec(attributes)?.[1]) }
  }
  return null
}

const LIST_TIMEOUT_MS = 20_000

/**
 * Throws when a repository cannot be read, is empty or has an address that is not public.
 * Errors: 400, with the same text for all of these, so that callers cannot explore a private network with it. The
 * reason is in the log only.
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
 * Reads the name of the branch that a remote's HEAD points at.
 * Errors: 502 when the remote cannot be read, 500 when it names no branch.
 */
export async function readDefaultBranch(context: GitContext, uri: string, signal?: AbortSignal): Promise<string> {
  const head = await readRemoteHead(context, uri, { timeoutMs: LIST_TIMEOUT_MS, signal }).catch((error: unknown) => {
    context.log.warn('default branch is not known', { repository: loggableUri(uri), reason: error })
    throw badGateway(REPOSITORY_UNREACHABLE, error)
  })
  if (!head?.branch) throw internal('No match git default branch ls-remote')
  return head.branch
}
