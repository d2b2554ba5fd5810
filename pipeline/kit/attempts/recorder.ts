import { LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import type { Masker } from '../../../src/base/masking.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { STOPPING } from '../../../src/data/queue.ts'
import type { AttemptStepName } from '../../../src/rounds/attempts.ts'
import type { Run } from '../run.ts'
import { type AttemptBook, createAttemptBook, type OpenAttempt } from './book.ts'
import { type Finding, type FoundIn, findingsIn } from './findings.ts'

/**
 * Records the attempts of a run, which follow each other. Steps report through `step`, `diagnose` and `changed`, which
 * do nothing outside of an attempt. A failing database is logged and does not end the round; only `LeaseLost` is
 * thrown.
 */
export interface Attempts {
  /**
   * Runs one attempt and records its start and end. Errors: `LeaseLost`; those of the work.
   * @param facts.reason why it begins, where the previous attempt does not explain it
   * @param facts.judge returns null to accept the attempt, else the text that becomes its finding when there is no
   * other
   */
  record<Result>(facts: AttemptFacts<NoInfer<Result>>, work: () => Promise<Result>): Promise<Result>
  /** Runs and times a step, which fails on an error or when `isOk` returns false. */
  step<Result>(name: AttemptStepName, work: () => Promise<Result>, isOk?: (result: Result) => boolean): Promise<Result>
  /** Notes the findings of a step; they are masked and shortened when the attempt ends. */
  diagnose(step: AttemptStepName, findings: readonly Finding[]): void
  /** Notes the commit that holds the changes of the attempt. */
  changed(commit: string): void
  /** Adds the findings of a later review of the plan to the last accepted attempt. Errors: `LeaseLost`. */
  review(findings: readonly Finding[]): Promise<void>
}

export interface AttemptFacts<Result> {
  task: Operation
  reason: string | null
  judge(result: Result): string | null
}

const UNEXPECTED = 'An unexpected error occurred.'

export function createAttempts(run: Run, secrets: Masker): Attempts {
  const book = createAttemptBook(run, secrets)
  let open: OpenAttempt | null = null
  return {
    record: async ({ task, reason, judge }, work) => {
      const attempt = await book.open(task, reason)
      open = attempt
      const result = await work()
        .catch(async (error: unknown) => {
          await closeAfter(run, book, attempt, error)
          throw error
        })
        .finally(() => {
          open = null
        })
      const words = judge(result)
      if (words !== null && attempt.found.every(({ severity }) => severity !== 'error'))
        attempt.found.push(...found(attempt.steps.failed(), findingsIn(words)))
      await book.close(attempt, words === null ? 'accepted' : 'refused')
      return result
    },
    step: async (name, work, isOk) => (open ? await open.steps.measure(name, work, isOk) : await work()),
    diagnose: (step, findings) => void open?.found.push(...found(step, findings)),
    changed: (commit) => {
      if (open) open.commit = commit
    },
    review: (findings) => book.add(found('check', findings)),
  }
}

const found = (step: AttemptStepName | null, findings: readonly Finding[]): FoundIn[] =>
  findings.map((finding) => ({ ...finding, step }))

/** Closes an attempt that ended with an error. A run that has lost its lease leaves this to the new holder. */
async function closeAfter({ signal }: Run, book: AttemptBook, attempt: OpenAttempt, error: unknown): Promise<void> {
  if (error instanceof LeaseLost || (signal.aborted && signal.reason instanceof LeaseLost)) return
  if (signal.aborted) return await book.close(attempt, signal.reason === STOPPING ? 'interrupted' : 'cancelled')
  const text = error instanceof PlatformError ? error.message : UNEXPECTED
  attempt.found.push(...found(attempt.steps.failed(), findingsIn(text)))
  await book.close(attempt, 'failed')
}
