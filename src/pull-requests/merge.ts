import { conflict, gatewayTimeout, notFound, sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/types.ts'
import { sessionAggregateKey } from '../sessions/aggregate.ts'
import { findSession } from '../sessions/find.ts'
import { findLatestPullRequest } from '../sessions/pull-requests.ts'
import type { SessionFacts } from '../sessions/types.ts'
import { MERGE_LATE } from './call.ts'
import { pullRequestHost } from './host-of.ts'

/** Clients give up after 50 seconds. */
const TOTAL_MS = 45_000

/**
 * Merges the session's most recent pull request into its base branch. The caller has checked that the
 * session is the user's own. Its status stays as it is, also when the merge fails.
 * Errors: 404 unknown session, 409 locked, 404 no pull requests, and those of the provider; 504
 * `Complete PR timeout` when the merge is not done within 45 seconds.
 */
export async function mergePullRequest(
  context: Context,
  session_uuid: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { workspace } = await unlockedSession(context.sql, session_uuid)
  const pull_request = await findLatestPullRequest(context.sql, session_uuid)
  if (!pull_request) throw notFound(`Session ${session_uuid} has no pull requests.`)
  const host = pullRequestHost(context, workspace.uri)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(gatewayTimeout(MERGE_LATE)), TOTAL_MS)
  try {
    await host.merge(pull_request.number, {
      // Waiting for the provider takes seconds, in which the session may have been locked.
      confirm: async () => void (await unlockedSession(context.sql, session_uuid)),
      signal: AbortSignal.any([signal, limit.signal]),
    })
  } finally {
    clearTimeout(timer)
  }
  await context.cache.delete(sessionAggregateKey(session_uuid))
}

async function unlockedSession(sql: Db, uuid: string): Promise<SessionFacts> {
  const session = await findSession(sql, uuid)
  if (!session) throw sessionNotFound(uuid)
  if (session.is_blocked) throw conflict(`Session ${session.uuid} is blocked; PR merge is not allowed.`)
  return session
}
