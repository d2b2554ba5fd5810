import type { DriftOperation } from '../../../src/plan/drift.ts'
import type { ValidPlan } from '../plan/plan.ts'
import type { Conventions } from '../shared/compose-prompts.ts'

/** The input of a remediation of drift. */
export interface DriftTask {
  /** A plan whose drift is read first; null when the targets have to be planned. */
  valid: ValidPlan | null
  targets: string[]
  /**
   * True if differences that the session's own commits explain are left out. Otherwise every difference is drift, and
   * targets that name nothing in the code or in the state are reported as a failure.
   */
  filterSessionChanges: boolean
  /** Addresses that this round imported. */
  imported?: ReadonlySet<string>
  conventions: Conventions
  /** Largest number of readings and remediations; with 0 nothing is done. */
  maxIterations: number
}

export interface DriftResult {
  /** True if code and infrastructure agree, apart from differences that are expected. */
  inSync: boolean
  /**
   * Drift that is left, as it was last read, without what exception rules cover and, where the task leaves out the
   * session's own changes, without those that plan and diff show to be some.
   */
  remaining: DriftOperation[]
  /** Drift that is left and that exception rules cover, as it was last read. */
  excepted: DriftOperation[]
  /** Every address that differed at some time, as it was first read. */
  detected: DriftOperation[]
  /** Changes of others that the generator wrote into the code: the last reading no longer shows them. */
  written: DriftOperation[]
  /** Output of the engine when drift could not be read; null otherwise. */
  feedback: string | null
  /** The last plan; null when no plan was made. */
  valid: ValidPlan | null
  /** Notes of the filter on what the exception rules covered. */
  exclusions: string[]
}
