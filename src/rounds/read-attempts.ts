import type { Db } from '../data/db/types.ts'
import type { AttemptDetail } from './attempt-types.ts'

/** An attempt as it is stored: why it began stands with itself. */
export type AttemptRow = Omit<AttemptDetail, 'next_reason'> & { round_id: number; reason: string | null }

/**
 * Reads the attempts of all rounds of a session, in their order. One that has no end although its round has ended,
 * since its end could not be written, counts as interrupted.
 */
export const readAttempts = (db: Db, sessionId: number) => db<AttemptRow[]>`
  SELECT a.round_id, a.number, a.restart, a.task, a.reason, a.started_at,
         coalesce(a.ended_at, r.finished_at) AS ended_at,
         coalesce(a.outcome, CASE WHEN r.finished_at IS NOT NULL THEN 'interrupted' END) AS outcome,
         a.steps, a.diagnostics, a.diagnostics_total, a.commit,
         a.input_tokens, a.cached_tokens, a.output_tokens, a.cost_usd
  FROM round_attempts a JOIN rounds r ON r.id = a.round_id
  WHERE r.session_id = ${sessionId} ORDER BY a.round_id, a.number`

/** The attempts of one round as they are published: each one says why the next one began. */
export const toAttempts = (rows: readonly AttemptRow[]): AttemptDetail[] =>
  rows.map(({ round_id: _, reason: _reason, ...attempt }, index) => ({
    ...attempt,
    next_reason: rows[index + 1]?.reason ?? null,
  }))
