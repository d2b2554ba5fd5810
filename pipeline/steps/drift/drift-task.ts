import type { DriftOperation } from '../../../src/plan/drift.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'

export interface DriftTask {
  /** A plan whose drift is read first; null when the targets have to be planned. */
  valid: ValidPlan | null
  targets: string[]
  /** True if the session's own changes are no drift; if false, unknown targets are a failure. */
  filterSessionChanges: boolean
  imported?: ReadonlySet<string>
  conventions: Conventions
  /** Maximum number of readings and remediations; 0 does nothing. */
  maxIterations: number
}

export interface DriftResult {
  /** True if code and infrastructure agree, apart from expected differences. */
  inSync: boolean
  /** Remaining drift of the last reading, without excepted drift and, if filtered, the session's own changes. */
  remaining: DriftOperation[]
  /** Remaining excepted drift of the last reading. */
  excepted: DriftOperation[]
  /** Every address that differed at any time, as first read. */
  detected: DriftOperation[]
  /** Changes of others that the generator wrote into the code: the last reading no longer shows them. */
  written: DriftOperation[]
  /** Engine output when drift could not be read; null otherwise. */
  feedback: string | null
  /** The last plan; null when no plan was made. */
  valid: ValidPlan | null
  /** Notes of the filter on excepted drift. */
  exclusions: string[]
}
