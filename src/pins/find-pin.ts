import type { Db } from '../data/db/types.ts'
import type { PlannedChange } from '../plan/plan.ts'
import type { StoredSeal } from './types.ts'

interface PinRow {
  round_id: number
  plan_sha256: string
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
 * The seal of a session, whatever became of the round that wrote it, and whether that round completed:
 * an attempt that was interrupted after it had sealed reviewed nothing.
 */
export async function findPin(sql: Db, session_id: number): Promise<{ seal: StoredSeal; reviewed: boolean } | null> {
  const [row] = await sql<(PinRow & { reviewed: boolean })[]>`
    SELECT p.round_id, p.plan_sha256, p.commit, p.targets, p.changes, p.engine_name, p.engine_version,
           p.state_lineage, p.state_serial, p.project_id, p.archive_key,
           EXISTS (SELECT 1 FROM statuses s WHERE s.round_id = p.round_id AND s.status = 'completed') AS reviewed
    FROM pins p WHERE p.session_id = ${session_id}`
  return row ? { seal: toSeal(row), reviewed: row.reviewed } : null
}

function toSeal(row: PinRow): StoredSeal {
  const { round_id, plan_sha256, commit, targets, changes, project_id, archive_key } = row
  const { engine_name, engine_version, state_lineage, state_serial } = row
  return {
    round_id,
    plan_sha256,
    commit,
    targets,
    changes,
    project_id,
    archive_key,
    engine: engine_name === null || engine_version === null ? null : { name: engine_name, version: engine_version },
    state: state_lineage === null || state_serial === null ? null : { lineage: state_lineage, serial: state_serial },
  }
}
