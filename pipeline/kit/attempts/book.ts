import { LeaseLost } from '../../../src/base/errors.ts'
import type { Masker } from '../../../src/base/masking.ts'
import type { Operation } from '../../../src/base/vocabulary.ts'
import type { AttemptBegin, AttemptOutcome, AttemptSpending } from '../../../src/rounds/attempts.ts'
import { recordAttemptBegin, recordAttemptEnd, recordFindings } from '../../../src/rounds/attempts.ts'
import type { Run } from '../run.ts'
import { type FoundIn, keptOf, publishFindings, publishReason, reasonOf } from './findings.ts'
import { createStepTimes, type StepTimes } from './step-times.ts'

export interface OpenAttempt {
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
export interface AttemptBook {
  /** @param reason why it begins; null when the previous attempt records the reason */
  open(task: Operation, reason: string | null): Promise<OpenAttempt>
  close(attempt: OpenAttempt, outcome: AttemptOutcome): Promise<void>
  /** Adds findings to the last accepted attempt; does nothing without one. */
  add(found: readonly FoundIn[]): Promise<void>
}

const RESTARTED = 'The round was interrupted and starts again.'

export function createAttemptBook(run: Run, secrets: Masker): AttemptBook {
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
