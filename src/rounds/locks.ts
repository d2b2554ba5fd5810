import { type Actor, auditInsert, platformFor } from '../access/audit/record.ts'
import { LeaseLost, PlatformError } from '../base/errors.ts'
import { isUuid } from '../base/text.ts'
import type { Context } from '../context.ts'
import type { Query, Sql } from '../data/db/types.ts'
import type { ClaimedRound } from './round.ts'
import { sessionAggregateKey } from './session-facts.ts'

/**
 * Writes whether a run has locked its session, and keeps what the lock was before, for a round that is cancelled.
 * Errors: `LeaseLost`; 500 `SetLockError` when the database does not take the write.
 */
export async function recordLockDecision(sql: Sql, round: ClaimedRound, isBlocked: boolean): Promise<void> {
  const where = sql`id = ${round.session.id} AND fence = ${round.fence} AND in_flight`
  const entry = { actor: platformFor(round.session.user_id), detail: { round: round.number } }
  const kept = sql`UPDATE rounds SET lock_before = before.is_blocked FROM before
    WHERE rounds.id = ${round.id} AND lock_before IS NULL`
  const rows = await writeLock(sql, { where, besides: kept }, isBlocked, entry).catch((cause) => {
    throw new PlatformError('SetLockError', 500, 'Error updating DB session lock.', { cause })
  })
  if (rows.length === 0) throw new LeaseLost()
}

/**
 * Sets the lock of the session that `where` names. When that changes it, the same statement adds the entry to the
 * record of who did what.
 * @param session.besides another write of the same statement, which sees the lock as it was in `before`
 */
const writeLock = (
  sql: Sql,
  session: { where: Query; besides: Query },
  locked: boolean,
  entry: { actor: Actor; detail?: object },
) =>
  sql<{ uuid: string; is_blocked: boolean }[]>`
    WITH before AS (
      SELECT id, is_blocked FROM sessions WHERE ${session.where} FOR NO KEY UPDATE
    ), besides AS (${session.besides}), written AS (
      UPDATE sessions SET is_blocked = ${locked} FROM before WHERE sessions.id = before.id
      RETURNING sessions.uuid, sessions.is_blocked, before.is_blocked AS was_blocked
    ), audit AS (${auditInsert(
      sql,
      { ...entry, action: locked ? 'session_locked' : 'session_unlocked', session_id: sql`uuid` },
      sql`FROM written WHERE is_blocked <> was_blocked`,
    )})
    SELECT uuid, is_blocked FROM written`

/**
 * Locks or unlocks a session on an operator's request, whatever its state is. Answers null when there is no such
 * session. A round that is cancelled afterwards leaves the lock as the operator has set it.
 * @param actor who asks for it, for the record; without it the platform does
 */
export async function setLock(
  context: Pick<Context, 'sql' | 'cache'>,
  uuid: string,
  locked: boolean,
  actor: Actor = platformFor(null),
): Promise<{ uuid: string; is_blocked: boolean } | null> {
  if (!isUuid(uuid)) return null
  const { sql } = context
  const decided = sql`UPDATE rounds SET lock_before = NULL FROM before
    WHERE rounds.session_id = before.id AND finished_at IS NULL AND lock_before IS NOT NULL`
  const [row] = await writeLock(sql, { where: sql`uuid = ${uuid}`, besides: decided }, locked, { actor })
  if (!row) return null
  await context.cache.delete(sessionAggregateKey(uuid))
  return { uuid: row.uuid, is_blocked: row.is_blocked }
}
