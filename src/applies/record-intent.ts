import { internal } from '../base/errors.ts'
import type { Sql } from '../data/db/types.ts'
import { assertHeld } from '../sessions/held-session.ts'
import type { ClaimedRound } from '../sessions/types.ts'

/**
 * Writes down that the one job of this round is about to be submitted. The same statement makes sure that
 * the session is not locked, that the plan is still the sealed one and that the round holds its project.
 * Answers false for a locked session.
 * Errors: `LeaseLost`; 500 when one of the others does not hold, or when it was written before.
 */
export async function recordIntent(
  sql: Sql,
  round: ClaimedRound,
  pin: { plan_sha256: string; project_id: string },
): Promise<boolean> {
  const rows = await sql<{ is_blocked: boolean; recorded: boolean }[]>`
    WITH session AS (
      SELECT id, is_blocked FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight FOR SHARE
    ), recorded AS (
      INSERT INTO applies (round_id, project_id, intended_at)
      SELECT ${round.id}, ${pin.project_id}, clock_timestamp() FROM session
      WHERE NOT is_blocked
        AND EXISTS (SELECT 1 FROM pins p WHERE p.session_id = session.id AND p.plan_sha256 = ${pin.plan_sha256})
        AND EXISTS (SELECT 1 FROM project_applies a WHERE a.project_id = ${pin.project_id} AND a.round_id = ${round.id})
      ON CONFLICT (round_id) DO UPDATE SET intended_at = excluded.intended_at WHERE applies.intended_at IS NULL
      RETURNING round_id
    )
    SELECT is_blocked, EXISTS (SELECT 1 FROM recorded) AS recorded FROM session`
  assertHeld(rows)
  const [answer] = rows
  if (answer?.recorded) return true
  if (answer?.is_blocked) return false
  throw internal('The apply was not started: the pinned plan is no longer the one that was checked.')
}
