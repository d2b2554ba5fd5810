import type { Status } from '../base/vocabulary.ts'
import type { Db } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { assertHeld } from './held-session.ts'
import { STATUS_CHANNEL } from './status-channel.ts'
import type { ClaimedRound } from './types.ts'

/**
 * Writes a status row of a run and rings the bell of its session.
 * Errors: `LeaseLost`.
 */
export async function appendStatus(
  sql: Db,
  round: ClaimedRound,
  status: Status,
  message: string | null,
): Promise<void> {
  const text = storable(message)
  const rows = await sql`
    WITH session AS (
      UPDATE sessions SET last_status = ${status}, last_message = ${text}, last_status_at = clock_timestamp()
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight
      RETURNING id, uuid
    ), written AS (
      INSERT INTO statuses (session_id, round_id, status, message) SELECT id, ${round.id}, ${status}, ${text} FROM session
    )
    SELECT pg_notify(${STATUS_CHANNEL}, uuid::text) FROM session`
  assertHeld(rows)
}
