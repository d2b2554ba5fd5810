import { conflict, gatewayTimeout, notFound, sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/types.ts'
import { sessionAggregateKey } from '../sessions/aggregate.ts'
import { findSession } from '../sessions/find.ts'
import { findLatestPullRequest } from '../sessions/pull-requests.ts'
import type { SessionFacts } from '../sessions/types.ts'
import { MERGE_LATE } from './call.ts'
import { createPullRequestHost } from './host-of.ts'

/** Clients give up after 50 seconds. */
const TOTAL_MS = 45_000

/**
 * Merges the session's most recent pull request into its base branch. The status of the session does not change, not
 * even when the merge fails. The caller has checked that the session belongs to the user.
 * Errors: 404 for an unknown session and for one without pull requests, 409 for a locked session, 504
 * `Complete PR timeout` when the merge takes more than 45 seconds, and those of the provider.
 */
export async function mergePullRequest(
  context: Context,
  sessionUuid: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { workspace } = await requireUnlockedSession(context.sql, sessionUuid)
  const pullRequest = await findLatestPullRequest(context.sql, sessionUuid)
  if (!pullRequest) throw notFound(`Session ${sessionUuid} has no pull requests.`)
  const host = createPullRequestHost(context, workspace.uri)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(gatewayTimeout(MERGE_LATE)), TOTAL_MS)
  try {
    await host.merge(pullRequest.number, {
      // Waiting for the provider takes seconds, during which somebody may lock the session.
      confirm: async () => void (await requireUnlockedSession(context.sql, sessionUuid)),
      signal: AbortSignal.any([signal, limit.signal]),
    })
  } finally {
    clearTimeout(timer)
  }
  await context.cache.delete(sessionAggregateKey(sessionUuid))
}

async function requireUnlockedSession(sql: Db, uuid: string): Promise<SessionFacts> {
  const session = await findSession(sql, uuid)
  if (!session) throw sessionNotFound(uuid)
  if (session.is_blocked) throw conflict(`Session ${session.uuid} is blocked; PR merge is not allowed.`)
  return session
}
