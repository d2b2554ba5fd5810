import { LeaseLost, PlatformError } from '../../src/base/errors.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { Operation } from '../../src/base/vocabulary.ts'
import { STOPPING } from '../../src/data/queue/types.ts'
import {
  ATTEMPT_STEPS,
  type AttemptBegin,
  type AttemptOutcome,
  type AttemptSpending,
  type AttemptStep,
  type AttemptStepName,
  recordAttemptBegin,
  recordAttemptEnd,
  recordFindings,
  type StepOutcome,
} from '../../src/rounds/attempts.ts'
import { type Finding, type FoundIn, findingsIn, keptOf, publishFindings, publishReason, reasonOf } from './findings.ts'
import type { Run } from './run.ts'

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

interface AttemptFacts<Result> {
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

interface OpenAttempt {
  /** Null when its start could not be recorded. */
  number: number | null
  begin: AttemptBegin
  steps: StepTimes
  found: FoundIn[]
  /** The commit that holds its changes; null while there are none. */
  commit: string | null
  /** Model usage since the attempt began. */
  spent: () => AttemptSpending
}

/** Writes the attempts of a run to the database, masked. Every function throws `LeaseLost` and nothing else. */
interface AttemptBook {
  /** @param reason why it begins; null when the previous attempt records the reason */
  open(task: Operation, reason: string | null): Promise<OpenAttempt>
  close(attempt: OpenAttempt, outcome: AttemptOutcome): Promise<void>
  /** Adds findings to the last accepted attempt; does nothing without one. */
  add(found: readonly FoundIn[]): Promise<void>
}

const RESTARTED = 'The round was interrupted and starts again.'

function createAttemptBook(run: Run, secrets: Masker): AttemptBook {
  const { round, workspace, log, meter } = run
  const { sql } = run.context
  const hidden = { secrets, workspace }
  let accepted: { number: number; found: FoundIn[] } | null = null
  let known: string | null = null
  let isFirst = true

  const write = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      log.warn('the record of an attempt could not be written', { error })
      return null
    }
  }

  return {
    open: async (task, reason) => {
      const why = isFirst && round.attempt > 1 ? RESTARTED : (reason ?? known)
      const begin = { task, reason: why === null ? null : publishReason(why, hidden) }
      isFirst = false
      known = null
      const number = await write(() => recordAttemptBegin(sql, round, begin))
      return { number, begin, steps: createStepTimes(), found: [], commit: null, spent: meter.mark() }
    },
    close: async ({ begin, found, steps, commit, spent, ...attempt }, outcome) => {
      if (outcome !== 'accepted') known = reasonOf(found)
      const number = attempt.number ?? (await write(() => recordAttemptBegin(sql, round, begin)))
      if (number === null) return
      if (outcome === 'accepted') accepted = { number, found }
      const diagnostics = publishFindings(found, { ...hidden, limit: keptOf(number) })
      const entry = { outcome, commit, steps: steps.read(begin.task), diagnostics, diagnostics_total: found.length }
      await write(() => recordAttemptEnd(sql, round, number, { ...entry, ...spent() }))
    },
    add: async (more) => {
      if (!accepted || more.length === 0) return
      const { number, found } = accepted
      found.push(...more)
      const diagnostics = publishFindings(found, { ...hidden, limit: keptOf(number) })
      await write(() => recordFindings(sql, round, number, { diagnostics, total: found.length }))
    },
  }
}

interface StepTimes {
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
