import type { DriftOperation } from '../../../src/plan/drift.ts'
import { storeDrift } from '../../../src/reports/artifacts.ts'
import type { Kit } from '../../kit/kit.ts'
import { findCoveredDrift } from './excepted-drift.ts'
import { describeUnmatched, readDrift } from './read-drift.ts'
import { ASSESSING } from './remediate-drift.ts'

/** Drift as it was read once, without any attempt to remediate it. */
export interface SeenDrift {
  /** Differences that no exception rule covers. */
  remaining: DriftOperation[]
  /** Differences that an exception rule covers. */
  excepted: DriftOperation[]
  /** What the exception filter said about the rules. */
  notes: string[]
  /** What the engine said when drift could not be read; null otherwise. */
  failure: string | null
}

/**
 * Reads drift once and stores it. The exception filter, a model, is asked about it when there is any.
 * @param targets what is looked at; everything when the list is empty
 * Errors: those of `readDrift`, of the object store and of `runAgent`.
 */
export async function lookForDrift(kit: Kit, targets: string[]): Promise<SeenDrift> {
  const { run, status } = kit
  await status.show('validating', ASSESSING)
  const reading = await readDrift(kit, null, targets)
  const failure = reading.ok ? describeUnmatched(reading.valid) : reading.feedback
  if (!reading.ok || failure !== null) return { remaining: [], excepted: [], notes: [], failure }
  const { operations } = reading
  await storeDrift(run.context, run.round, { operations, targets }, run.signal)
  const { covered, note } = await findCoveredDrift(kit, operations)
  return {
    remaining: operations.filter((operation) => !covered.includes(operation)),
    excepted: covered,
    notes: note === null ? [] : [note],
    failure: null,
  }
}
