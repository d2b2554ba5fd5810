import { PlatformError, repositoryUnreachable } from '../base/errors.ts'
import { type GitContext, loggableUri } from './remote.ts'
import { type RemoteHead, remoteHead } from './remote-head.ts'

export const LIST_TIMEOUT_MS = 20_000

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
