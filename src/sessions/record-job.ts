import type { Sql } from '../data/db/types.ts'
import { assertHeld, heldSession } from './held-session.ts'
import type { ClaimedRound } from './types.ts'

/**
 * Remembers an engine job under the run's key for it, so that a later attempt finds it again.
 * Errors: `LeaseLost`.
 */
export async function recordJob(sql: Sql, round: ClaimedRound, key: string, job_id: string): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSession(sql, round)})
    UPDATE rounds SET jobs = jobs || jsonb_build_object(${key}::text, ${job_id}::text)
    FROM session WHERE rounds.id = ${round.id} RETURNING rounds.id`
  assertHeld(rows)
}
