import type { Sql } from '../data/db/types.ts'
import { assertHeld, heldSession } from '../sessions/held-session.ts'
import type { ClaimedRound } from '../sessions/types.ts'

/**
 * Makes this round the one that may change a project, if no other unfinished round is; answers the uuid of
 * the session whose round it is, null when it is this one now.
 * Errors: `LeaseLost`.
 */
export async function takeProject(sql: Sql, round: ClaimedRound, project_id: string): Promise<string | null> {
  // The holder may end between the two statements: then the project is free.
  for (;;) {
    if (await tryToTake(sql, round, project_id)) return null
    const [holder] = await sql<{ uuid: string }[]>`
      SELECT s.uuid FROM project_applies p
      JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
      WHERE p.project_id = ${project_id} AND r.finished_at IS NULL`
    if (holder) return holder.uuid
  }
}

async function tryToTake(sql: Sql, round: ClaimedRound, project_id: string): Promise<boolean> {
  const rows = await sql<{ taken: boolean }[]>`
    WITH session AS (${heldSession(sql, round)}),
    taken AS (
      INSERT INTO project_applies (project_id, round_id) SELECT ${project_id}, ${round.id} FROM session
      ON CONFLICT (project_id) DO UPDATE SET round_id = excluded.round_id
        WHERE project_applies.round_id = excluded.round_id
           OR EXISTS (SELECT 1 FROM rounds r WHERE r.id = project_applies.round_id AND r.finished_at IS NOT NULL)
      RETURNING round_id
    ), no_longer_waiting AS (
      UPDATE applies SET waiting_since = NULL FROM taken WHERE applies.round_id = taken.round_id
    )
    SELECT EXISTS (SELECT 1 FROM taken) AS taken FROM session`
  assertHeld(rows)
  return rows[0]?.taken ?? false
}
