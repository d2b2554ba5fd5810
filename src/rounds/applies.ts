import { internal, LeaseLost } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { Sql, Transaction } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import type { RoundQueue } from '../data/queue/types.ts'
import type { ClaimedRound, HeldRound } from './round.ts'
import { assertHeld, heldSessionQuery } from './status.ts'
import { assertWanted } from './wish.ts'

/** How an apply ended. Sensitive values are masked in all texts. */
export type ApplyResult =
  /** The engine ran to its end, successfully or not. */
  | { kind: 'ran'; exit_code: number; stdout: string; stderr: string }
  /**
   * No job was submitted, so nothing changed. `reason` says why and `advice` says what to do, both in sentences; `cause`
   * is there when the plan no longer fits.
   */
  | { kind: 'refused'; reason: string; advice: string; cause?: 'engine_changed' | 'state_moved' }
  /** The round's job was submitted, or may have been, and nobody knows how it ended. */
  | { kind: 'unknown'; reason: string }

/** How far earlier attempts of an apply round came. */
export interface ApplyProgress {
  /** Seconds since the round began to wait for another apply of its project; null when it does not wait. */
  waited_s: number | null
  /** True when an attempt was about to submit the round's job. A second job must not be submitted then. */
  intended: boolean
  job_id: string | null
  result: ApplyResult | null
}

/** Reads how far earlier attempts of an apply round came; the first attempt finds nothing done. */
export async function readApplyProgress(sql: Sql, roundId: number): Promise<ApplyProgress> {
  const [row] = await sql<ApplyProgress[]>`
    SELECT extract(epoch FROM clock_timestamp() - waiting_since)::float8 AS waited_s,
           intended_at IS NOT NULL AS intended, job_id, result
    FROM applies WHERE round_id = ${roundId}`
  return row ?? { waited_s: null, intended: false, job_id: null, result: null }
}

/**
 * Makes this round the only one that may change a project, unless another unfinished round already is.
 * @returns null when this round holds the project now, else the uuid of the session whose round holds it
 * Errors: `LeaseLost`.
 */
export async function takeProject(sql: Sql, round: ClaimedRound, projectId: string): Promise<string | null> {
  // When the holder ends between the two statements, the second one finds nobody and the project is tried again.
  for (;;) {
    if (await tryToTakeProject(sql, round, projectId)) return null
    const [holder] = await sql<{ uuid: string }[]>`
      SELECT s.uuid FROM project_applies p
      JOIN rounds r ON r.id = p.round_id JOIN sessions s ON s.id = r.session_id
      WHERE p.project_id = ${projectId} AND r.finished_at IS NULL`
    if (holder) return holder.uuid
  }
}

async function tryToTakeProject(sql: Sql, round: ClaimedRound, projectId: string): Promise<boolean> {
  const rows = await sql<{ taken: boolean }[]>`
    WITH session AS (${heldSessionQuery(sql, round)}),
    taken AS (
      INSERT INTO project_applies (project_id, round_id) SELECT ${projectId}, ${round.id} FROM session
      ON CONFLICT (project_id) DO UPDATE SET round_id = excluded.round_id
        WHERE project_applies.round_id = excluded.round_id
           OR EXISTS (SELECT 1 FROM rounds r WHERE r.id = project_applies.round_id AND r.finished_at IS NOT NULL)
      RETURNING round_id
    ), no_longer_waiting AS (
      UPDATE applies SET waiting_since = NULL FROM taken WHERE applies.round_id = taken.round_id
    )
    SELECT EXISTS (SELECT 1 FROM taken) AS taken FROM session`
  assertHeld(rows)
  return rows[0]?.taken ?? false
}

/**
 * Hands a round back to the queue until the apply that holds its project ends, so that a waiting round does not
 * keep a worker busy. A worker claims it again at that end, at the latest `limitS` seconds after it began to
 * wait. Answers false, and changes nothing, when the project has become free in the meantime.
 * Errors: `LeaseLost`; `RoundCancelled`.
 */
export async function parkRound(
  { sql }: Pick<Context, 'sql'>,
  round: ClaimedRound,
  wait: { project_id: string; limitS: number },
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    // Whoever ends the holder deletes this row. The lock makes that deletion wait until this round is parked;
    // when the deletion came first, no row is found.
    const [holder] = await tx`
      SELECT p.round_id FROM project_applies p JOIN rounds r ON r.id = p.round_id
      WHERE p.project_id = ${wait.project_id} AND p.round_id <> ${round.id} AND r.finished_at IS NULL
      FOR SHARE OF p`
    if (!holder) return false
    const [session] = await tx`
      UPDATE sessions SET fence = fence + 1
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id`
    if (!session) throw new LeaseLost()
    // Whoever cancels a parked round ends it at once; a wish from before has to be seen here.
    await assertWanted(tx, round.id)
    await tx`
      WITH waiting AS (
        INSERT INTO applies (round_id, project_id, waiting_since)
        VALUES (${round.id}, ${wait.project_id}, clock_timestamp())
        ON CONFLICT (round_id) DO UPDATE SET waiting_since = coalesce(applies.waiting_since, excluded.waiting_since)
        RETURNING waiting_since
      )
      UPDATE rounds
      SET parked = true, handed_back = handed_back + 1,
          lease_until = waiting_since + make_interval(secs => ${wait.limitS})
      FROM waiting WHERE rounds.id = ${round.id}`
    return true
  })
}

/**
 * Records that the job of this round is about to be submitted. The same statement makes sure that the session is
 * not locked, that the plan is still the saved one and that the round holds its project.
 * @returns false for a locked session
 * Errors: `LeaseLost`; `RoundCancelled` when somebody wanted the round to end before; 500 when the plan or the project
 * is no longer as checked, or when an earlier attempt has recorded the same already.
 */
export async function recordIntent(
  sql: Sql,
  round: ClaimedRound,
  plan: { plan_sha256: string; project_id: string },
): Promise<boolean> {
  const rows = await sql.begin(async (tx) => {
    assertHeld(await heldSessionQuery(tx, round))
    await assertWanted(tx, round.id)
    return await insertIntent(tx, round, plan)
  })
  assertHeld(rows)
  const [answer] = rows
  if (answer?.recorded) return true
  if (answer?.is_blocked) return false
  throw internal('The apply was not started: the pinned plan is no longer the one that was checked.')
}

const insertIntent = (tx: Transaction, round: ClaimedRound, plan: { plan_sha256: string; project_id: string }) =>
  tx<{ is_blocked: boolean; recorded: boolean }[]>`
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

/**
 * Records the id of an apply round's job, so that a later attempt waits for this job instead of submitting another.
 * The write does not carry the run's fence: only the attempt that recorded the intent can know the id, and the next
 * attempt needs it also from a worker that has lost the round in the meantime.
 */
export async function recordApplyJob(sql: Sql, roundId: number, jobId: string): Promise<void> {
  await sql`
    UPDATE applies SET job_id = ${jobId}
    WHERE round_id = ${roundId} AND intended_at IS NOT NULL AND job_id IS NULL`
}

/**
 * Records how an apply ended, so that a later attempt of the round reports the same result.
 * Errors: `LeaseLost`.
 */
export async function recordApplyResult(
  sql: Sql,
  round: ClaimedRound,
  projectId: string,
  result: ApplyResult,
): Promise<void> {
  const json = JSON.stringify(result, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
  const rows = await sql`
    WITH session AS (${heldSessionQuery(sql, round)})
    INSERT INTO applies (round_id, project_id, result) SELECT ${round.id}, ${projectId}, ${json}::jsonb FROM session
    ON CONFLICT (round_id) DO UPDATE SET result = excluded.result
    RETURNING round_id`
  assertHeld(rows)
}

/**
 * Cleans up after an apply round: deletes the stored output, releases the project and queues the rounds that wait
 * for it. The first of them to run takes the project and the others go on waiting. The caller runs this inside the
 * transaction that ends the round.
 */
export async function endApply(
  queue: Pick<RoundQueue, 'enqueue'>,
  tx: Transaction,
  round: Pick<HeldRound, 'id'>,
): Promise<void> {
  await tx`UPDATE applies SET result = NULL WHERE round_id = ${round.id}`
  const held = await tx<{ project_id: string }[]>`
    DELETE FROM project_applies WHERE round_id = ${round.id} RETURNING project_id`
  // This has to be a second statement: only after the deletion has waited for the lock of `parkRound` does a new
  // statement see the round that was parked at that moment.
  for (const { project_id } of held) {
    const woken = await tx<{ id: number }[]>`
      UPDATE rounds SET lease_until = NULL FROM applies
      WHERE applies.project_id = ${project_id} AND applies.waiting_since IS NOT NULL AND rounds.id = applies.round_id
        AND rounds.parked AND rounds.finished_at IS NULL
      RETURNING rounds.id`
    for (const { id } of woken) await queue.enqueue(tx, id)
  }
}
