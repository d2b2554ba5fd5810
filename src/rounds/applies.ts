import { internal } from '../base/errors.ts'
import type { Sql } from '../data/db/sql.ts'
import { storableJson } from '../data/db/values.ts'
import { assertHeld, type ClaimedRound, heldSessionQuery, writeHeld } from './round.ts'
import { assertNotCancelled } from './transitions.ts'

/** The result of an apply, with sensitive values masked. */
export type ApplyResult =
  /** The engine ran to its end, successfully or not. */
  | { kind: 'ran'; exit_code: number; stdout: string; stderr: string }
  /** No job was submitted. `reason` and `advice` are sentences; `cause` is set when the plan no longer matches. */
  | { kind: 'refused'; reason: string; advice: string; cause?: 'engine_changed' | 'state_moved' }
  /** The round's job was submitted, or may have been, and its outcome is unknown. */
  | { kind: 'unknown'; reason: string }

export interface ApplyProgress {
  /** Seconds since the round began to wait for another apply of its project; null when it does not wait. */
  waited_s: number | null
  /** True if an earlier run was about to submit the round's job. A second job must not be submitted then. */
  intended: boolean
  job_id: string | null
  result: ApplyResult | null
}

/** Reads the progress of earlier runs of an apply round; the first run finds nothing done. */
export async function readApplyProgress(sql: Sql, roundId: number): Promise<ApplyProgress> {
  const [row] = await sql<ApplyProgress[]>`
    SELECT extract(epoch FROM clock_timestamp() - waiting_since)::float8 AS waited_s,
           intended_at IS NOT NULL AS intended, job_id, result
    FROM applies WHERE round_id = ${roundId}`
  return row ?? { waited_s: null, intended: false, job_id: null, result: null }
}

/**
 * Records that the job of this round is about to be submitted. The same statement checks that the session is unlocked,
 * that the plan is still the saved one and that the round holds its project.
 * @returns false for a locked session
 * Throws `LeaseLost`; `RoundCancelled`; 500 when the plan or the project has changed since the check, or when an
 * earlier run has already recorded this.
 */
export async function recordIntent(
  sql: Sql,
  round: ClaimedRound,
  plan: { plan_sha256: string; project_id: string },
): Promise<boolean> {
  const rows = await sql.begin(async (tx) => {
    assertHeld(await heldSessionQuery(tx, round))
    await assertNotCancelled(tx, round.id)
    return await tx<{ is_blocked: boolean; recorded: boolean }[]>`
      WITH session AS (
        SELECT id, is_blocked FROM sessions
        WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight FOR SHARE
      ), recorded AS (
        INSERT INTO applies (round_id, project_id, intended_at)
        SELECT ${round.id}, ${plan.project_id}, clock_timestamp() FROM session
        WHERE NOT is_blocked
          AND EXISTS (SELECT 1 FROM saved_plans p WHERE p.session_id = session.id AND p.ended_at IS NULL
            AND p.plan_sha256 = ${plan.plan_sha256})
          AND EXISTS (SELECT 1 FROM project_applies a WHERE a.project_id = ${plan.project_id} AND a.round_id = ${round.id})
        ON CONFLICT (round_id) DO UPDATE SET intended_at = excluded.intended_at WHERE applies.intended_at IS NULL
        RETURNING round_id
      )
      SELECT is_blocked, EXISTS (SELECT 1 FROM recorded) AS recorded FROM session`
  })
  assertHeld(rows)
  const [answer] = rows
  if (answer?.recorded) return true
  if (answer?.is_blocked) return false
  throw internal('The apply was not started: the pinned plan is no longer the one that was checked.')
}

/**
 * Records the id of an apply round's job, so that a later run waits for this job instead of submitting another. The
 * write does not check the run's fence: only the run that recorded the intent knows the id, and the next run needs it
 * even from a worker that has lost the round.
 */
export async function recordApplyJob(sql: Sql, roundId: number, jobId: string): Promise<void> {
  await sql`
    UPDATE applies SET job_id = ${jobId}
    WHERE round_id = ${roundId} AND intended_at IS NOT NULL AND job_id IS NULL`
}

/** Records the result of an apply, so that a later run of the round reports the same. Throws `LeaseLost`. */
export async function recordApplyResult(
  sql: Sql,
  round: ClaimedRound,
  projectId: string,
  result: ApplyResult,
): Promise<void> {
  await writeHeld(sql, round)`
    INSERT INTO applies (round_id, project_id, result) SELECT ${round.id}, ${projectId}, ${storableJson(result)}::jsonb FROM session
    ON CONFLICT (round_id) DO UPDATE SET result = excluded.result
    RETURNING round_id`
}
