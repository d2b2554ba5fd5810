import type { Sql } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import { assertHeld, heldSession } from '../sessions/held-session.ts'
import type { ClaimedRound } from '../sessions/types.ts'
import type { Seal } from './types.ts'

/**
 * Makes this the session's one seal; answers the object key of the one before, null when it had none.
 * Written before the directory takes its place: a seal without its directory applies nothing.
 * Errors: `LeaseLost`.
 */
export async function sealPin(sql: Sql, round: ClaimedRound, seal: Seal): Promise<string | null> {
  const changes = JSON.stringify(seal.changes.map((change) => ({ ...change, address: storable(change.address) })))
  const rows = await sql<{ earlier_key: string | null }[]>`
    WITH session AS (${heldSession(sql, round)}),
    earlier AS (SELECT archive_key FROM pins WHERE session_id = ${round.session.id})
    INSERT INTO pins (session_id, round_id, plan_sha256, commit, targets, changes, engine_name, engine_version,
                      state_lineage, state_serial, project_id, archive_key)
    SELECT id, ${round.id}, ${seal.plan_sha256}, ${seal.commit}, ${seal.targets}::text[], ${changes}::jsonb,
           ${seal.engine?.name ?? null}, ${seal.engine?.version ?? null},
           ${seal.state?.lineage ?? null}, ${seal.state?.serial ?? null}::bigint, ${seal.project_id}, ${seal.archive_key}
    FROM session
    ON CONFLICT (session_id) DO UPDATE SET
      round_id = excluded.round_id, plan_sha256 = excluded.plan_sha256, commit = excluded.commit,
      targets = excluded.targets, changes = excluded.changes,
      engine_name = excluded.engine_name, engine_version = excluded.engine_version,
      state_lineage = excluded.state_lineage, state_serial = excluded.state_serial,
      project_id = excluded.project_id, archive_key = excluded.archive_key, sealed_at = clock_timestamp()
    RETURNING (SELECT archive_key FROM earlier) AS earlier_key`
  assertHeld(rows)
  return rows[0]?.earlier_key ?? null
}
