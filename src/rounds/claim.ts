import type { Turn } from '../base/vocabulary.ts'
import type { Sql, Transaction } from '../data/db/sql.ts'
import { deleteArtifactRows } from './artifact-rows.ts'
import { interruptAttempts } from './attempts.ts'
import { type ClaimedRound, readFacts } from './round.ts'
import { appendStatus, claimRound } from './transitions.ts'

export interface Claim extends ClaimedRound {
  /** Number of earlier runs that ended without releasing the round, for example because their worker died. */
  interruptions: number
  /** The user who cancelled the round before the claim; null for none. */
  cancelled_by: string | null
}

/**
 * Claims a round for a run of this worker: raises the session's fence, counts the run and deletes the records of an
 * earlier one. Returns null when the round is finished or another worker's lease is valid, so that a queue message may arrive
 * twice.
 */
export async function claimForRun(sql: Sql, roundId: number): Promise<Claim | null> {
  return sql.begin(async (tx) => {
    const row = await claimRound(tx, roundId)
    if (!row) return null
    const { session_id, last_commit, attempts, handed_back, was_parked, ...round } = row
    const session = await readFacts(tx, tx`s.id = ${session_id}`)
    if (!session) throw new Error(`session ${session_id} has no row`)
    const claim: Claim = {
      ...round,
      id: roundId,
      attempt: attempts,
      interruptions: attempts - 1 - handed_back,
      session,
      history: await readHistory(tx, session_id),
      base_commit: last_commit,
      abandoned_commits: await readAbandonedCommits(tx, session_id),
    }
    // A cancelled round does not restart, and keeps its records; an apply is reported again.
    const isEnding = claim.cancelled_by !== null && claim.mode !== 'apply'
    if (claim.attempt > 1 && !isEnding) await discardEarlierAttempt(tx, claim, was_parked)
    return claim
  })
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
 * Deletes the artifact rows of an earlier run. The stored objects remain, unreferenced. The record of its generation
 * loops remains too, with an unfinished last entry marked as interrupted. A status tells the user about the restart,
 * unless the round was parked, which is no interruption, or cancelled.
 */
async function discardEarlierAttempt(tx: Transaction, claim: Claim, wasParked: boolean): Promise<void> {
  await deleteArtifactRows(tx, tx`SELECT ${claim.id}::integer`)
  await interruptAttempts(tx, claim.id)
  if (!wasParked && claim.cancelled_by === null)
    await appendStatus(tx, claim, 'started', 'The round was interrupted and starts again.')
}
