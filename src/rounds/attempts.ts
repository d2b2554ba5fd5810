import type { Operation } from '../base/vocabulary.ts'
import type { Db } from '../data/db/sql.ts'
import { storable, storableJson } from '../data/db/values.ts'
import { type ClaimedRound, writeHeld } from './round.ts'

/** The steps of an attempt, in order. `import` runs in import loops only; `check` compares a plan with the request. */
export const ATTEMPT_STEPS = ['generate', 'init', 'validate', 'plan', 'show', 'import', 'check'] as const
export type AttemptStepName = (typeof ATTEMPT_STEPS)[number]

export const STEP_OUTCOMES = ['ok', 'failed', 'skipped'] as const
export type StepOutcome = (typeof STEP_OUTCOMES)[number]

/**
 * The outcome of an attempt. `accepted`: the round continued with its code. `refused`: the engine or a check rejected
 * its code. `failed`: it could not be completed, for example because a model did not answer. `cancelled`: a user
 * cancelled the round. `interrupted`: its worker stopped or died.
 */
export const ATTEMPT_OUTCOMES = ['accepted', 'refused', 'failed', 'cancelled', 'interrupted'] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

/** One step with all of its runs in an attempt. */
export interface AttemptStep {
  name: AttemptStepName
  /** Outcome of the last run; `skipped` if it was not needed or not reached. */
  outcome: StepOutcome
  /** Wall-clock time of all runs. */
  seconds: number
  runs: number
}

/** A finding of the engine or of a check, with masked and shortened texts. */
export interface AttemptDiagnostic {
  severity: 'error' | 'warning'
  /** The step that found it; null for none, for example when a model did not answer. */
  step: AttemptStepName | null
  summary: string
  /** May have several lines or be empty. */
  detail: string
  /** Relative to the engine root; null when no file is concerned. */
  file: string | null
  line: number | null
  /** Lines of code with their numbers; may be empty. */
  snippet: string
  address: string | null
  /** Id of the rule that found it; null for none. */
  rule: string | null
}

/** Tokens and costs of the model calls during an attempt. */
export interface AttemptSpending {
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  /** US dollars; null when the price of a model is unknown. */
  cost_usd: number | null
}

export interface AttemptEnd extends AttemptSpending {
  outcome: AttemptOutcome
  commit: string | null
  steps: AttemptStep[]
  /** The first of `diagnostics_total` findings. */
  diagnostics: AttemptDiagnostic[]
  diagnostics_total: number
}

/** The record of an attempt's beginning. */
export interface AttemptBegin {
  /** The loop that the attempt belongs to. */
  task: Operation
  /** The reason for the attempt, masked; null for the first one of a round. */
  reason: string | null
}

/** One attempt of a generation loop, as the API returns it. */
export interface AttemptDetail {
  /** Counted from 1 over all loops and restarts of the round. */
  number: number
  /** Number of restarts of the round so far; 0 in its first run. */
  restart: number
  task: Operation
  started_at: string
  /** Null while the attempt runs. If its worker died, the time at which the round restarted. */
  ended_at: string | null
  /** Null while the attempt runs. */
  outcome: AttemptOutcome | null
  /** Empty until the end of the attempt, and permanently if its worker died. */
  steps: AttemptStep[]
  diagnostics: AttemptDiagnostic[]
  diagnostics_total: number
  /** Null if nothing changed. */
  commit: string | null
  /** Null, like the next three fields, until the end of the attempt, and permanently if its worker died. */
  input_tokens: number | null
  cached_tokens: number | null
  output_tokens: number | null
  cost_usd: number | null
  /** The reason for the next attempt; null when there is none. */
  next_reason: string | null
}

/** Records the beginning of an attempt and returns its number. Throws `LeaseLost`. */
export async function recordAttemptBegin(sql: Db, round: ClaimedRound, begin: AttemptBegin): Promise<number> {
  const [row] = await writeHeld(sql, round)`
    INSERT INTO round_attempts (round_id, number, restart, task, reason)
    SELECT ${round.id}, 1 + coalesce((SELECT max(number) FROM round_attempts WHERE round_id = ${round.id}), 0),
           ${round.attempt - 1}, ${begin.task}, ${storable(begin.reason)}
    FROM session RETURNING number`
  return row?.number ?? 0
}

/** Records the end of an attempt. Throws `LeaseLost`. */
export async function recordAttemptEnd(sql: Db, round: ClaimedRound, number: number, end: AttemptEnd): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE round_attempts
    SET ended_at = clock_timestamp(), outcome = ${end.outcome}, commit = ${storable(end.commit)},
        steps = ${storableJson(end.steps)}::jsonb, diagnostics = ${storableJson(end.diagnostics)}::jsonb,
        diagnostics_total = ${end.diagnostics_total}, input_tokens = ${end.input_tokens},
        cached_tokens = ${end.cached_tokens}, output_tokens = ${end.output_tokens}, cost_usd = ${end.cost_usd}
    FROM session WHERE round_id = ${round.id} AND number = ${number} RETURNING number`
}

/** Replaces the findings of an ended attempt after a later review of its plan found more. Throws `LeaseLost`. */
export async function recordFindings(
  sql: Db,
  round: ClaimedRound,
  number: number,
  found: { diagnostics: readonly AttemptDiagnostic[]; total: number },
): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE round_attempts
    SET diagnostics = ${storableJson(found.diagnostics)}::jsonb, diagnostics_total = ${found.total}
    FROM session WHERE round_id = ${round.id} AND number = ${number} RETURNING number`
}

/** Marks the unfinished attempts of an earlier run as interrupted, when the round is claimed. */
export async function interruptAttempts(db: Db, roundId: number): Promise<void> {
  await db`
    UPDATE round_attempts SET ended_at = clock_timestamp(), outcome = 'interrupted'
    WHERE round_id = ${roundId} AND outcome IS NULL`
}

/** An attempt as it is stored, with its own reason. */
export type AttemptRow = Omit<AttemptDetail, 'next_reason'> & { round_id: number; reason: string | null }

/** Reads the attempts of a session's rounds, in order. One without an end in an ended round counts as interrupted. */
export const readAttempts = (db: Db, sessionId: number) => db<AttemptRow[]>`
  SELECT a.round_id, a.number, a.restart, a.task, a.reason, a.started_at,
         coalesce(a.ended_at, r.finished_at) AS ended_at,
         coalesce(a.outcome, CASE WHEN r.finished_at IS NOT NULL THEN 'interrupted' END) AS outcome,
         a.steps, a.diagnostics, a.diagnostics_total, a.commit,
         a.input_tokens, a.cached_tokens, a.output_tokens, a.cost_usd
  FROM round_attempts a JOIN rounds r ON r.id = a.round_id
  WHERE r.session_id = ${sessionId} ORDER BY a.round_id, a.number`

/** Converts the attempts of one round to the API's form, in which each has the reason for the next one. */
export const toAttempts = (rows: readonly AttemptRow[]): AttemptDetail[] =>
  rows.map(({ round_id: _, reason: _reason, ...attempt }, index) => ({
    ...attempt,
    next_reason: rows[index + 1]?.reason ?? null,
  }))
