import { LeaseLost, PlatformError } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Sql } from '../data/db/types.ts'
import { sessionAggregateKey } from './aggregate.ts'
import { isUuid } from './find.ts'
import type { ClaimedRound } from './types.ts'

/**
 * Writes whether a run has locked its session.
 * Errors: `LeaseLost`; 500 `SetLockError` when the database does not take the write.
 */
export async function recordLockDecision(sql: Sql, round: ClaimedRound, isBlocked: boolean): Promise<void> {
  const rows = await sql`
    UPDATE sessions SET is_blocked = ${isBlocked}
    WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id`.catch((cause) => {
    throw new PlatformError('SetLockError', 500, 'Error updating DB session lock.', { cause })
  })
  if (rows.length === 0) throw new LeaseLost()
}

/**
 * Locks or unlocks a session on an operator's request, whatever its state is. Answers null when there is no such
 * session.
 */
export async function setLock(
  context: Pick<Context, 'sql' | 'cache'>,
  uuid: string,
  locked: boolean,
): Promise<{ uuid: string; is_blocked: boolean } | null> {
  if (!isUuid(uuid)) return null
  const [row] = await context.sql<{ uuid: string; is_blocked: boolean }[]>`
    UPDATE sessions SET is_blocked = ${locked} WHERE uuid = ${uuid} RETURNING uuid, is_blocked`
  if (!row) return null
  await context.cache.delete(sessionAggregateKey(uuid))
  return { uuid: row.uuid, is_blocked: row.is_blocked }
}
