import type { PlannedChange } from '../plan/plan.ts'
import type { EngineInfo } from '../services/iac/types.ts'

/** The state that a plan was made from. Without a state yet: lineage empty, serial 0. */
export interface StateVersion {
  lineage: string
  serial: number
}

/** What the platform says about a session's reviewed plan. Nothing else is applied. */
export interface Seal {
  /** Lower-case hex of the plan file. */
  plan_sha256: string
  /** Head of the session branch. */
  commit: string
  targets: string[]
  /** What the plan does. */
  changes: PlannedChange[]
  /** Null when the iac sidecar does not tell. */
  engine: EngineInfo | null
  /** Null when the plan file does not tell. */
  state: StateVersion | null
  project_id: string
  /** Object with the encrypted directory; null when only the worker's disk has it. */
  archive_key: string | null
}

/** A seal as it is stored, with the round that reviewed the plan. */
export interface StoredSeal extends Seal {
  round_id: number
}
