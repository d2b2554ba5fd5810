import type { Operation } from '../../../src/base/vocabulary.ts'
import {
  ATTEMPT_STEPS,
  type AttemptStep,
  type AttemptStepName,
  type StepOutcome,
} from '../../../src/rounds/attempts.ts'

export interface StepTimes {
  /** Runs and times a step. Errors: those of the work, which mark the step as failed. */
  measure<Result>(
    name: AttemptStepName,
    work: () => Promise<Result>,
    isOk?: (result: Result) => boolean,
  ): Promise<Result>
  /** Returns the step whose latest run failed last; null when none did. */
  failed(): AttemptStepName | null
  /** Returns all steps of such a loop in order, each with all of its runs. */
  read(task: Operation): AttemptStep[]
}

export function createStepTimes(now: () => number = () => performance.now()): StepTimes {
  const taken = new Map<AttemptStepName, { outcome: StepOutcome; ms: number; runs: number }>()
  let failed: AttemptStepName | null = null
  const note = (name: AttemptStepName, started: number, outcome: StepOutcome) => {
    const { ms, runs } = taken.get(name) ?? { ms: 0, runs: 0 }
    taken.set(name, { outcome, ms: ms + now() - started, runs: runs + 1 })
    if (outcome === 'failed') failed = name
    else if (failed === name) failed = null
  }
  return {
    measure: async (name, work, isOk = () => true) => {
      const started = now()
      try {
        const result = await work()
        note(name, started, isOk(result) ? 'ok' : 'failed')
        return result
      } catch (error) {
        note(name, started, 'failed')
        throw error
      }
    },
    failed: () => failed,
    read: (task) =>
      ATTEMPT_STEPS.filter((name) => name !== 'import' || task === 'import').map((name) => {
        const { outcome, ms, runs } = taken.get(name) ?? { outcome: 'skipped', ms: 0, runs: 0 }
        return { name, outcome, seconds: Math.round(ms) / 1000, runs }
      }),
  }
}
