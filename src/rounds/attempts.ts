import type { Db } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import type { AttemptBegin, AttemptDiagnostic, AttemptEnd } from './attempt-types.ts'
import type { ClaimedRound } from './round.ts'
import { assertHeld, heldSessionQuery } from './status.ts'

/** Records that an attempt of a round begins, and answers its number. Errors: `LeaseLost`. */
export async function recordAttemptBegin(sql: Db, round: ClaimedRound, begin: AttemptBegin): Promise<number> {
  const rows = await sql<{ number: number }[]>`
    WITH session AS (${heldSessionQuery(sql, round)})
    INSERT INTO round_attempts (round_id, number, restart, task, reason)
    SELECT ${round.id}, 1 + coalesce((SELECT max(number) FROM round_attempts WHERE round_id = ${round.id}), 0),
           ${round.attempt - 1}, ${begin.task}, ${storable(begin.reason)}
    FROM session RETURNING number`
  assertHeld(rows)
  return rows[0]?.number ?? 0
}

/** Records how an attempt ended. Errors: `LeaseLost`. */
export async function recordAttemptEnd(sql: Db, round: ClaimedRound, number: number, end: AttemptEnd): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSessionQuery(sql, round)})
    UPDATE round_attempts
    SET ended_at = clock_timestamp(), outcome = ${end.outcome}, commit = ${storable(end.commit)},
        steps = ${toJson(end.steps)}::jsonb, diagnostics = ${toJson(end.diagnostics)}::jsonb,
        diagnostics_total = ${end.diagnostics_total}, input_tokens = ${end.input_tokens},
        cached_tokens = ${end.cached_tokens}, output_tokens = ${end.output_tokens}, cost_usd = ${end.cost_usd}
    FROM session WHERE round_id = ${round.id} AND number = ${number} RETURNING number`
  assertHeld(rows)
}

/**
 * Replaces the findings of an attempt that has ended, after a later review of its plan found more.
 * Errors: `LeaseLost`.
 */
export async function recordFindings(
  sql: Db,
  round: ClaimedRound,
  number: number,
  found: { diagnostics: readonly AttemptDiagnostic[]; total: number },
): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSessionQuery(sql, round)})
    UPDATE round_attempts
    SET diagnostics = ${toJson(found.diagnostics)}::jsonb, diagnostics_total = ${found.total}
    FROM session WHERE round_id = ${round.id} AND number = ${number} RETURNING number`
  assertHeld(rows)
}

/** Marks what an earlier run of the round has left without an end; the claim of the round calls it. */
export async function interruptAttempts(db: Db, roundId: number): Promise<void> {
  await db`
    UPDATE round_attempts SET ended_at = clock_timestamp(), outcome = 'interrupted'
    WHERE round_id = ${roundId} AND outcome IS NULL`
}

const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'string' ? storable(part) : part))
