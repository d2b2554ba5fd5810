import { LeaseLost, PlatformError } from '../../../src/base/errors.ts'
import type { Masker } from '../../../src/base/masking.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import { STOPPING } from '../../../src/data/queue/types.ts'
import type { AttemptStepName } from '../../../src/rounds/attempts.ts'
import type { Run } from '../run.ts'
import { type AttemptBook, createAttemptBook, type OpenAttempt } from './book.ts'
import { type Finding, type FoundIn, findingsIn } from './findings.ts'

/**
 * Keeps the record of a run's attempts: what each of them did, what was found, what it took, and why the next one
 * began. A step tells it what happens by `step`, `diagnose` and `changed`, which do nothing outside of an attempt. Attempts
 * follow each other. Only `LeaseLost` comes out of the record itself; when the database takes nothing else, the log
 * says so and the round goes on.
 */
export interface Attempts {
  /**
   * Does the work of one attempt and records its begin and its end.
   * @param facts.reason why it begins, where that is not what the attempt before it came to
   * @param facts.judge null when the attempt is accepted, else the words about it, which count as its finding when
   * nothing else was found
   * Errors: `LeaseLost`; those of the work.
   */
  record<Result>(facts: AttemptFacts<NoInfer<Result>>, work: () => Promise<Result>): Promise<Result>
  /**
   * Does a step and takes its time; a step that fails by an error has failed.
   * @param isOk whether the step went well; without it every answer is well
   */
  step<Result>(name: AttemptStepName, work: () => Promise<Result>, isOk?: (result: Result) => boolean): Promise<Result>
  /** Notes what a step found; texts are masked and shortened when the attempt ends. */
  diagnose(step: AttemptStepName, findings: readonly Finding[]): void
  /** Notes the commit that holds the changes of the attempt. */
  changed(commit: string): void
  /** Adds what a later review of the plan found to the last accepted attempt of the run. Errors: `LeaseLost`. */
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

/** Closes an attempt that an error has ended. A run that has lost its round leaves that to whoever has it now. */
async function closeAfter({ signal }: Run, book: AttemptBook, attempt: OpenAttempt, error: unknown): Promise<void> {
  if (error instanceof LeaseLost || (signal.aborted && signal.reason instanceof LeaseLost)) return
  if (signal.aborted) return await book.close(attempt, signal.reason === STOPPING ? 'interrupted' : 'cancelled')
  const text = error instanceof PlatformError ? error.message : UNEXPECTED
  attempt.found.push(...found(attempt.steps.failed(), findingsIn(text)))
  await book.close(attempt, 'failed')
}
