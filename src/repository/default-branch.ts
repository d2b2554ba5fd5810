import { badGateway, internal, REPOSITORY_UNREACHABLE } from '../base/errors.ts'
import { LIST_TIMEOUT_MS } from './reach.ts'
import { type GitContext, loggableUri } from './remote.ts'
import { remoteHead } from './remote-head.ts'

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
