import { sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/types.ts'
import { sessionAggregateKey } from './cache-keys.ts'
import type { PullRequest } from './types.ts'

/**
 * Records a pull request with the session's latest round; the same one is recorded once.
 * Errors: 404 unknown session.
 */
export async function recordPullRequest(
  context: Pick<Context, 'sql' | 'cache'>,
  sessionUuid: string,
  pullRequest: PullRequest,
): Promise<void> {
  const { provider, number, url } = pullRequest
  await context.sql.begin(async (tx) => {
    // Touches the session, which orders two calls and outdates the cached detail.
    const [session] = await tx<
      { id: number }[]
    >`UPDATE sessions SET updated_at = DEFAULT WHERE uuid = ${sessionUuid} RETURNING id`
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

/** The pull request recorded last, or null. */
export async function latestPullRequest(sql: Db, sessionUuid: string): Promise<PullRequest | null> {
  const [row] = await sql<PullRequest[]>`
    SELECT p.provider, p.number, p.url FROM pull_requests p
    JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${sessionUuid} ORDER BY p.created_at DESC, p.id DESC LIMIT 1`
  return row ?? null
}
