import { sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/types.ts'
import { sessionAggregateKey } from './aggregate.ts'
import type { PullRequest } from './types.ts'

/**
 * Records a pull request with the session's latest round. A pull request that the session has already is not
 * recorded again.
 * Errors: 404 unknown session.
 */
export async function recordPullRequest(
  context: Pick<Context, 'sql' | 'cache'>,
  sessionUuid: string,
  pullRequest: PullRequest,
): Promise<void> {
  const { provider, number, url } = pullRequest
  await context.sql.begin(async (tx) => {
    // The update locks the row, so that two calls at once run one after the other; the new `updated_at` makes the
    // cached detail of the session out of date.
    const [session] = await tx<{ id: number }[]>`
      UPDATE sessions SET updated_at = DEFAULT WHERE uuid = ${sessionUuid} RETURNING id`
    if (!session) throw sessionNotFound(sessionUuid)
    await tx`
      INSERT INTO pull_requests (round_id, provider, number, url)
      SELECT id, ${provider}, ${number}, ${url} FROM rounds WHERE session_id = ${session.id}
        AND NOT EXISTS (
          SELECT 1 FROM pull_requests p JOIN rounds r ON r.id = p.round_id
          WHERE r.session_id = ${session.id} AND p.provider = ${provider} AND p.url = ${url})
      ORDER BY rounds.number DESC LIMIT 1`
  })
  await context.cache.delete(sessionAggregateKey(sessionUuid))
}

/** Reads the pull request that was recorded last; null when the session has none. */
export async function findLatestPullRequest(sql: Db, sessionUuid: string): Promise<PullRequest | null> {
  const [row] = await sql<PullRequest[]>`
    SELECT p.provider, p.number, p.url FROM pull_requests p
    JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${sessionUuid} ORDER BY p.created_at DESC, p.id DESC LIMIT 1`
  return row ?? null
}
