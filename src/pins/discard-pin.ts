import type { Sql } from '../db/types.ts'
import { assertHeld, heldSession } from '../sessions/held-session.ts'
import type { ClaimedRound } from '../sessions/types.ts'

/**
 * Takes the session's seal away, so that nothing is pinned any more; answers the object key it named, null
 * when there is no object to delete.
 * Errors: `LeaseLost`.
 */
export async function discardPin(sql: Sql, round: ClaimedRound): Promise<string | null> {
  const rows = await sql<{ archive_key: string | null }[]>`
    WITH session AS (${heldSession(sql, round)}),
    discarded AS (DELETE FROM pins USING session WHERE pins.session_id = session.id RETURNING pins.archive_key)
    SELECT (SELECT archive_key FROM discarded) AS archive_key FROM session`
  assertHeld(rows)
  return rows[0]?.archive_key ?? null
}
