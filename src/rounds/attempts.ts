import type { z } from '@hono/zod-openapi'
import type { Operation } from '../base/vocabulary.ts'
import type { Db } from '../data/db/sql.ts'
import { storable, storableJson } from '../data/db/values.ts'
import type { AttemptSchema } from './attempt-schema.ts'
import { type ClaimedRound, writeHeld } from './round.ts'

/** One attempt of a generation loop, as the API returns it. Of a dead worker's attempt only the beginning is known. */
export type AttemptDetail = z.output<typeof AttemptSchema>
export type AttemptStep = AttemptDetail['steps'][number]
export type AttemptStepName = AttemptStep['name']
export type StepOutcome = AttemptStep['outcome']
export type AttemptOutcome = NonNullable<AttemptDetail['outcome']>
export type AttemptDiagnostic = AttemptDetail['diagnostics'][number]

/** `diagnostics` are the first of `diagnostics_total` findings; tokens and US dollars are those of the model calls. */
export type AttemptEnd = Record<'input_tokens' | 'cached_tokens' | 'output_tokens', number> &
  Pick<AttemptDetail, 'cost_usd' | 'commit' | 'steps' | 'diagnostics' | 'diagnostics_total'> & {
    outcome: AttemptOutcome
  }

/**
 * Records the beginning of an attempt and returns its number; an accepted attempt before it was not the last one.
 * Throws `LeaseLost`.
 * @param begin.task the loop that the attempt belongs to
 * @param begin.reason the reason for the attempt, masked; null for the first one of a round
 */
export async function recordAttemptBegin(
  sql: Db,
  round: ClaimedRound,
  begin: { task: Operation; reason: string | null },
): Promise<number> {
  const [row] = await writeHeld(sql, round)`
    , earlier AS (
      UPDATE round_attempts SET outcome = 'continued' FROM session
      WHERE round_id = ${round.id} AND outcome = 'accepted'
    )
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

/**
 * Replaces the findings of an ended attempt after a later review of its plan found more, and its outcome if these are
 * why another attempt begins. Throws `LeaseLost`.
 */
export async function recordFindings(
  sql: Db,
  round: ClaimedRound,
  number: number,
  found: { diagnostics: readonly AttemptDiagnostic[]; total: number; outcome: AttemptOutcome },
): Promise<void> {
  await writeHeld(sql, round)`
    UPDATE round_attempts
    SET diagnostics = ${storableJson(found.diagnostics)}::jsonb, diagnostics_total = ${found.total},
        outcome = ${found.outcome}
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
