import { type Actor, auditInsert, platformFor } from '../access/audit/record.ts'
import { sessionNotFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Db } from '../data/db/sql.ts'
import { sessionAggregateKey } from '../rounds/round.ts'
import type { PullRequest } from './session-detail.ts'

/**
 * Records a pull request with the session's latest round, unless the session already has it. The audit entry is added
 * in either case.
 * @param actor the actor of the audit entry; default: the platform on behalf of the session's owner
 * Throws 404 for an unknown session.
 */
export async function recordPullRequest(
  context: Pick<Context, 'sql' | 'cache'>,
  sessionUuid: string,
  pullRequest: PullRequest,
  actor?: Actor,
): Promise<void> {
  const { provider, number, url } = pullRequest
  await context.sql.begin(async (tx) => {
    // The update locks the row, so that concurrent calls are serialized; the new `updated_at` invalidates the cached
    // detail of the session.
    const [session] = await tx<{ id: number; user_id: number }[]>`
      UPDATE sessions SET updated_at = DEFAULT WHERE uuid = ${sessionUuid} RETURNING id, user_id`
    if (!session) throw sessionNotFound(sessionUuid)
    const audit = auditInsert(tx, {
      action: tx`CASE WHEN EXISTS (SELECT 1 FROM opened) THEN 'pull_request_opened' ELSE 'pull_request_updated' END`,
      actor: actor ?? platformFor(session.user_id),
      session_id: sessionUuid,
      detail: { provider, number, url },
    })
    await tx`
      WITH opened AS (
      INSERT INTO pull_requests (round_id, provider, number, url)
      SELECT id, ${provider}, ${number}, ${url} FROM rounds WHERE session_id = ${session.id}
        AND NOT EXISTS (
          SELECT 1 FROM pull_requests p JOIN rounds r ON r.id = p.round_id
          WHERE r.session_id = ${session.id} AND p.provider = ${provider} AND p.url = ${url})
      ORDER BY rounds.number DESC LIMIT 1 RETURNING id
      ) ${audit}`
  })
  await context.cache.delete(sessionAggregateKey(sessionUuid))
}

/** Reads the last recorded pull request; null when the session has none. */
export async function findLatestPullRequest(sql: Db, sessionUuid: string): Promise<PullRequest | null> {
  const [row] = await sql<PullRequest[]>`
    SELECT p.provider, p.number, p.url FROM pull_requests p
    JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
    WHERE s.uuid = ${sessionUuid} ORDER BY p.id DESC LIMIT 1`
  return row ?? null
}
