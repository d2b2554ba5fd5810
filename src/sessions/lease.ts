import type { Db } from '../data/db/types.ts'
import { assertHeld } from './held-session.ts'
import type { ClaimedRound } from './types.ts'

/** How long a claim stands without a sign of life of its worker. */
export const LEASE_SECONDS = 6

/**
 * A sign of life: moves the lease on.
 * Errors: `LeaseLost`.
 */
export async function extendLease(sql: Db, round: ClaimedRound): Promise<void> {
  const rows = await sql`
    UPDATE rounds SET lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    WHERE id = ${round.id} AND EXISTS (
      SELECT 1 FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight)
    RETURNING id`
  assertHeld(rows)
}
