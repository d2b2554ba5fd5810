import { LeaseLost } from '../base/errors.ts'
import type { Db } from '../data/db/types.ts'
import type { ClaimedRound } from './types.ts'

/**
 * The session of a run, for the `FROM` of a fenced write: no row when another worker claimed the
 * round since. The lock makes a claim wait for the write, so that it sees what was written.
 */
export const heldSession = (sql: Db, round: ClaimedRound) => sql`
  SELECT id, uuid FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight FOR SHARE`

/** Errors: `LeaseLost` when the write touched nothing. */
export function assertHeld(rows: { readonly length: number }): void {
  if (rows.length === 0) throw new LeaseLost()
}
