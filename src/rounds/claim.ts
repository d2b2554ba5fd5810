import { LeaseLost } from '../base/errors.ts'
import type { Mode, Turn } from '../base/vocabulary.ts'
import type { Context } from '../context.ts'
import type { Db, Sql, Transaction } from '../data/db/types.ts'
import { interruptAttempts } from './attempts.ts'
import type { ClaimedRound } from './round.ts'
import { readFacts, type SessionFacts } from './session-facts.ts'
import { appendStatus, assertHeld } from './status.ts'

/** How long a claim stays valid when its worker does not extend it. After that another worker may claim the round. */
export const LEASE_SECONDS = 6

/**
 * Extends the lease of a round to `LEASE_SECONDS` from now.
 * @returns who wants the round to end, null when nobody does
 * Errors: `LeaseLost`.
 */
export async function extendLease(sql: Db, round: ClaimedRound): Promise<string | null> {
  const rows = await sql<{ cancelled_by: string | null }[]>`
    UPDATE rounds SET lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    WHERE id = ${round.id} AND EXISTS (
      SELECT 1 FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight)
    RETURNING cancelled_by`
  assertHeld(rows)
  return rows[0]?.cancelled_by ?? null
}

export interface Claim extends ClaimedRound {
  /** How many earlier attempts ended without handing the round back, for example because their worker died. */
  interruptions: number
  /** Who wanted the round to end before it was claimed; null when nobody did. */
  cancelled_by: string | null
}

/**
 * Claims a round for this worker: raises the session's fence, counts the attempt and deletes what an earlier
 * attempt recorded. Answers null when the round is finished or when another worker's lease is still valid, so that
 * a queue message that is delivered twice does no harm.
 */
export async function claimRound(sql: Sql, roundId: number): Promise<Claim | null> {
  return sql.begin(async (tx) => {
    const session = await lockSession(tx, roundId)
    const round = session && (await takeRound(tx, roundId))
    if (!session || !round) return null
    const claim: Claim = {
      id: roundId,
      number: round.number,
      mode: round.mode,
      query: round.query,
      is_partial: round.is_partial,
      preview: round.preview,
      resource_ids: round.resource_ids,
      jobs: round.jobs,
      fence: session.fence + 1,
      attempt: round.attempts,
      interruptions: round.attempts - 1 - round.handed_back,
      session: await readSession(tx, session.id),
      history: await readHistory(tx, session.id),
      base_commit: session.last_commit,
      abandoned_commits: await readAbandonedCommits(tx, session.id),
      cancelled_by: round.cancelled_by,
    }
    await tx`UPDATE sessions SET fence = ${claim.fence} WHERE id = ${session.id}`
    // A cancelled round does not start again, and keeps what it wrote; an apply is reported anew.
    const isEnding = claim.cancelled_by !== null && claim.mode !== 'apply'
    if (claim.attempt > 1 && !isEnding) await discardEarlierAttempt(tx, claim, round.parked)
    return claim
  })
}

/** Every transaction locks the session before the round, so that a claim and an end of a round cannot deadlock. */
async function lockSession(tx: Transaction, roundId: number) {
  const [session] = await tx<{ id: number; fence: number; last_commit: string | null }[]>`
    SELECT id, fence, last_commit FROM sessions
    WHERE id = (SELECT session_id FROM rounds WHERE id = ${roundId}) AND in_flight FOR UPDATE`
  return session
}

async function readSession(tx: Transaction, id: number): Promise<SessionFacts> {
  const facts = await readFacts(tx, tx`s.id = ${id}`)
  if (!facts) throw new Error(`session ${id} has no row`)
  return facts
}

async function takeRound(tx: Transaction, roundId: number) {
  const [round] = await tx<
    {
      number: number
      mode: Mode
      query: string
      is_partial: boolean
      preview: boolean
      resource_ids: string[] | null
      jobs: Record<string, string>
      attempts: number
      handed_back: number
      parked: boolean
      cancelled_by: string | null
    }[]
  >`
    UPDATE rounds
    SET attempts = rounds.attempts + 1, parked = false, saving_at = NULL,
        lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    FROM (SELECT id, parked FROM rounds WHERE id = ${roundId} FOR UPDATE) before
    WHERE rounds.id = before.id AND finished_at IS NULL AND (lease_until IS NULL OR lease_until < clock_timestamp())
    RETURNING number, mode, query, is_partial, preview, resource_ids, jobs, attempts, handed_back, before.parked,
      cancelled_by`
  return round
}

async function readAbandonedCommits(tx: Transaction, sessionId: number): Promise<string[]> {
  const rows = await tx<{ pushed_commit: string }[]>`
    SELECT pushed_commit FROM rounds
    WHERE session_id = ${sessionId} AND finished_at IS NOT NULL AND cancel_requested_at IS NOT NULL
      AND pushed_commit IS NOT NULL`
  return rows.map((row) => row.pushed_commit)
}

async function readHistory(tx: Transaction, sessionId: number): Promise<Turn[]> {
  const [row] = await tx<{ payload: Turn[] }[]>`SELECT payload FROM histories WHERE session_id = ${sessionId}`
  return row?.payload ?? []
}

/**
 * Deletes the artifact rows that an earlier attempt wrote. The stored objects stay, although nothing refers to them
 * any more. The record of its generation loops stays, in which a last entry without an end is marked as interrupted.
 * Unless the round was parked, which is no interruption, or somebody has cancelled it, a status tells the user that it
 * starts again.
 */
async function discardEarlierAttempt(tx: Transaction, claim: Claim, wasParked: boolean): Promise<void> {
  for (const table of ['engine_plans', 'reports', 'compliance_checks', 'code_changes', 'previews', 'engine_outputs'])
    await tx`DELETE FROM ${tx(table)} WHERE round_id = ${claim.id}`
  await interruptAttempts(tx, claim.id)
  if (!wasParked && claim.cancelled_by === null)
    await appendStatus(tx, claim, 'started', 'The round was interrupted and starts again.')
}

/**
 * Hands a round back from a worker that stops. It does not count as an interruption, and the round is queued for
 * the other workers at once.
 * Errors: `LeaseLost`.
 */
export async function releaseRound(context: Pick<Context, 'sql' | 'queue'>, round: ClaimedRound): Promise<void> {
  await context.sql.begin(async (tx) => {
    const [session] = await tx`
      UPDATE sessions SET fence = fence + 1
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight RETURNING id`
    if (!session) throw new LeaseLost()
    await tx`UPDATE rounds SET lease_until = NULL, handed_back = handed_back + 1 WHERE id = ${round.id}`
    await context.queue.enqueue(tx, round.id)
  })
}
