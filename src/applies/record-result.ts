import type { Sql } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { assertHeld, heldSession } from '../sessions/held-session.ts'
import type { ClaimedRound } from '../sessions/types.ts'
import type { ApplyResult } from './types.ts'

/**
 * Keeps how an apply ended, so that an attempt that takes the round up from here tells the same.
 * Errors: `LeaseLost`.
 */
export async function recordApplyResult(
  sql: Sql,
  round: ClaimedRound,
  project_id: string,
  result: ApplyResult,
): Promise<void> {
  const json = JSON.stringify(result, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
  const rows = await sql`
    WITH session AS (${heldSession(sql, round)})
    INSERT INTO applies (round_id, project_id, result) SELECT ${round.id}, ${project_id}, ${json}::jsonb FROM session
    ON CONFLICT (round_id) DO UPDATE SET result = excluded.result
    RETURNING round_id`
  assertHeld(rows)
}
