import type { Db, Sql } from '../../data/db/types.ts'
import { storable } from '../../data/db/values.ts'
import type { PlannedChange } from '../../plan/plan.ts'
import type { StateVersion } from '../../plan/state/state.ts'
import type { ClaimedRound } from '../../rounds/round.ts'
import { assertHeld, heldSessionQuery } from '../../rounds/round.ts'
import { deletePinRow } from '../../rounds/saved-plan-end.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'
import { recordSealQuery } from './record.ts'

/**
 * The facts that identify the plan that was reviewed in a session. An apply compares everything with them, and
 * applies nothing else.
 */
export interface Seal {
  /** SHA-256 of the plan file, in lower-case hexadecimal digits. */
  plan_sha256: string
  /**
   * SHA-256 of the files beside the plan file that an apply may read, in lower-case hexadecimal digits; null in seals
   * from before this field existed.
   */
  workspace_sha256: string | null
  /** Head of the session branch. */
  commit: string
  targets: string[]
  /** What the plan does. */
  changes: PlannedChange[]
  /** Null when the iac sidecar does not say which engine it runs. */
  engine: EngineInfo | null
  /** Version of the state that the plan was made from; null when the plan file does not hold it. */
  state: StateVersion | null
  project_id: string
  /** Key of the object with the encrypted directory; null when only the worker's disk has the directory. */
  archive_key: string | null
}

/** A seal as it is stored, with the round that reviewed the plan. */
export interface StoredSeal extends Seal {
  round_id: number
}

/**
 * Writes the session's seal in place of an earlier one. The caller does this before it moves the pinned directory
 * to its place: after a crash between the two there is a seal without a directory, which applies nothing.
 * @returns the object key of the earlier seal's archive, null when there was none
 * Errors: `LeaseLost`.
 */
export async function sealPin(sql: Sql, round: ClaimedRound, seal: Seal): Promise<string | null> {
  const changes = JSON.stringify(seal.changes.map((change) => ({ ...change, address: storable(change.address) })))
  const rows = await sql<{ earlier_key: string | null }[]>`
    WITH session AS (${heldSessionQuery(sql, round)}),
    earlier AS (SELECT archive_key FROM pins WHERE session_id = ${round.session.id}),
    ${recordSealQuery(sql, round, seal)}
    INSERT INTO pins (session_id, round_id, plan_sha256, workspace_sha256, commit, targets, changes,
                      engine_name, engine_version, state_lineage, state_serial, project_id, archive_key)
    SELECT id, ${round.id}, ${seal.plan_sha256}, ${seal.workspace_sha256}, ${seal.commit},
           ${seal.targets}::text[], ${changes}::jsonb,
           ${seal.engine?.name ?? null}, ${seal.engine?.version ?? null},
           ${seal.state?.lineage ?? null}, ${seal.state?.serial ?? null}::bigint,
           ${seal.project_id}, ${seal.archive_key}
    FROM session
    ON CONFLICT (session_id) DO UPDATE SET
      round_id = excluded.round_id, plan_sha256 = excluded.plan_sha256,
      workspace_sha256 = excluded.workspace_sha256, commit = excluded.commit,
      targets = excluded.targets, changes = excluded.changes,
      engine_name = excluded.engine_name, engine_version = excluded.engine_version,
      state_lineage = excluded.state_lineage, state_serial = excluded.state_serial,
      project_id = excluded.project_id, archive_key = excluded.archive_key, sealed_at = clock_timestamp()
    RETURNING (SELECT archive_key FROM earlier) AS earlier_key`
  assertHeld(rows)
  return rows[0]?.earlier_key ?? null
}

interface PinRow {
  round_id: number
  plan_sha256: string
  workspace_sha256: string | null
  commit: string
  targets: string[]
  changes: PlannedChange[]
  engine_name: string | null
  engine_version: string | null
  state_lineage: string | null
  state_serial: number | null
  project_id: string
  archive_key: string | null
}

/**
 * Reads the seal of a session; null when there is none. `reviewed` says whether the round that wrote it completed:
 * when a round was interrupted after it had written the seal, nobody has reviewed that plan.
 */
export async function findPin(sql: Db, sessionId: number): Promise<{ seal: StoredSeal; reviewed: boolean } | null> {
  const [row] = await sql<(PinRow & { reviewed: boolean })[]>`
    SELECT p.round_id, p.plan_sha256, p.workspace_sha256, p.commit, p.targets, p.changes,
           p.engine_name, p.engine_version, p.state_lineage, p.state_serial, p.project_id, p.archive_key,
           EXISTS (SELECT 1 FROM statuses s WHERE s.round_id = p.round_id AND s.status = 'completed') AS reviewed
    FROM pins p WHERE p.session_id = ${sessionId}`
  return row ? { seal: toSeal(row), reviewed: row.reviewed } : null
}

function toSeal(row: PinRow): StoredSeal {
  const { round_id, plan_sha256, workspace_sha256, commit, targets, changes, project_id, archive_key } = row
  const { engine_name, engine_version, state_lineage, state_serial } = row
  return {
    round_id,
    plan_sha256,
    workspace_sha256,
    commit,
    targets,
    changes,
    project_id,
    archive_key,
    engine: engine_name === null || engine_version === null ? null : { name: engine_name, version: engine_version },
    state: state_lineage === null || state_serial === null ? null : { lineage: state_lineage, serial: state_serial },
  }
}

/**
 * Deletes the session's seal in the middle of a run.
 * @returns the object key of its archive, null when there was none
 * Errors: `LeaseLost`.
 */
export async function removePin(sql: Sql, round: ClaimedRound): Promise<string | null> {
  return await sql.begin(async (tx) => {
    assertHeld(await heldSessionQuery(tx, round))
    const [pin] = await tx<{ archive_key: string | null }[]>`
      SELECT archive_key FROM pins WHERE session_id = ${round.session.id}`
    await deletePinRow(tx, round)
    return pin?.archive_key ?? null
  })
}
