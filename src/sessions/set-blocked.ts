import { LeaseLost, PlatformError } from '../base/errors.ts'
import type { Sql } from '../data/db/types.ts'
import type { ClaimedRound } from './types.ts'

/**
 * The lock decision of a run.
 * Errors: `LeaseLost`; `SetLockError`, `Error updating DB session lock.`
 */
export async function setBlocked(sql: Sql, round: ClaimedRound, is_blocked: boolean): Promise<void> {
  const rows = await sql`
    UPDATE sessions SET is_blocked = ${is_blocked}
    WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id`.catch((cause) => {
    throw new PlatformError('SetLockError', 500, 'Error updating DB session lock.', { cause })
  })
  if (rows.length === 0) throw new LeaseLost()
}
