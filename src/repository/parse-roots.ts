import { Errors } from 'isomorphic-git'
import { badGateway, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { fetchNewest, listFiles } from './list-remote-files.ts'
import { reachableHead } from './reach.ts'
import { type GitContext, loggableUri } from './remote.ts'
import { rootModules } from './root-modules.ts'

/** Callers give up after 50 s: whatever happens, an answer comes before. */
const TOTAL_MS = 45_000

/**
 * Finds the engine root modules on the default branch of a repository.
 * @returns sorted POSIX paths, the repository root as `.`
 * Errors: 400 with the fixed text when the remote cannot be listed or refuses the clone, 502 with the
 * same text when clone or scan fails otherwise. Answers within 45 s.
 */
export async function parseRoots(context: GitContext, uri: string): Promise<string[]> {
  const deadline = AbortSignal.timeout(TOTAL_MS)
  try {
    return await Promise.race([scan(context, uri, deadline), rejectAt(deadline)])
  } catch (error) {
    if (deadline.aborted) throw cloneFailed(context, uri, error)
    throw error
  }
}

async function scan(context: GitContext, uri: string, signal: AbortSignal): Promise<string[]> {
  await reachableHead(context, uri, signal)
  try {
    const { repository, commit } = await fetchNewest(context, uri, { timeout_ms: TOTAL_MS, signal })
    return commit ? rootModules(await listFiles(repository, commit, signal)) : []
  } catch (error) {
    throw cloneFailed(context, uri, error)
  }
}

function cloneFailed(context: GitContext, uri: string, error: unknown) {
  context.log.warn('repository could not be scanned', { repository: loggableUri(uri), reason: error })
  const refused = error instanceof Errors.HttpError && [401, 403, 404].includes(error.data.statusCode)
  return refused ? repositoryUnreachable(error) : badGateway(REPOSITORY_UNREACHABLE, error)
}

function rejectAt(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
