import { LeaseLost } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { ClaimedRound } from '../sessions/types.ts'

/**
 * Hands a round back until the apply that holds its project ends, so that waiting costs no worker a place;
 * it is taken up again then, or `limit_s` seconds after it began to wait. False, and nothing changes, when
 * the project is free by now.
 * Errors: `LeaseLost`.
 */
export async function parkRound(
  { sql }: Pick<Context, 'sql'>,
  round: ClaimedRound,
  wait: { project_id: string; limit_s: number },
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    // The end of the holder removes this row: it waits for us, or we see that it is gone.
    const [holder] = await tx`
      SELECT p.round_id FROM project_applies p JOIN rounds r ON r.id = p.round_id
      WHERE p.project_id = ${wait.project_id} AND p.round_id <> ${round.id} AND r.finished_at IS NULL
      FOR SHARE OF p`
    if (!holder) return false
    const [session] = await tx`
      UPDATE sessions SET fence = fence + 1
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id`
    if (!session) throw new LeaseLost()
    await tx`
      WITH waiting AS (
        INSERT INTO applies (round_id, project_id, waiting_since) VALUES (${round.id}, ${wait.project_id}, clock_timestamp())
        ON CONFLICT (round_id) DO UPDATE SET waiting_since = coalesce(applies.waiting_since, excluded.waiting_since)
        RETURNING waiting_since
      )
      UPDATE rounds
      SET parked = true, handed_back = handed_back + 1, lease_until = waiting_since + make_interval(secs => ${wait.limit_s})
      FROM waiting WHERE rounds.id = ${round.id}`
    return true
  })
}
