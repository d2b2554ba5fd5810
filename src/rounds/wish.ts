import { RoundCancelled } from '../base/errors.ts'
import type { Db, Sql, Transaction } from '../data/db/types.ts'
import { type NewSavedPlan, replaceSavedPlan } from '../saved-plans/saved-plan.ts'
import type { ClaimedRound } from './round.ts'
import { assertHeld, heldSessionQuery } from './status.ts'

/** The message of the status with which a cancelled round ends. */
export const cancelledMessage = (by: string): string => `Cancelled by ${by}.`

/** Reads who wants the round to end; null when nobody does. */
export async function readWish(db: Db, roundId: number): Promise<string | null> {
  const [row] = await db<{ cancelled_by: string | null }[]>`
    SELECT cancelled_by FROM rounds WHERE id = ${roundId} AND cancel_requested_at IS NOT NULL`
  return row?.cancelled_by ?? null
}

/**
 * Throws when somebody wants the round to end. The caller's transaction has locked the session, for which each wish
 * waits: whatever the transaction writes after this is written before any wish.
 * Errors: `RoundCancelled`.
 */
export async function assertWanted(tx: Transaction, roundId: number): Promise<void> {
  const by = await readWish(tx, roundId)
  if (by !== null) throw new RoundCancelled(by)
}

/**
 * Saves the plan of a round in place of the session's earlier one. After that the round cannot be cancelled, because a
 * cancelled round must leave the earlier plan as it was.
 * @param plan null when the plan cannot be saved: the session then has no current plan
 * @returns the object key of the earlier plan's archive, null when there was none
 * Errors: `RoundCancelled` when the round was cancelled before; `LeaseLost`.
 */
export async function recordSavedPlan(
  sql: Sql,
  round: ClaimedRound,
  plan: NewSavedPlan | null,
): Promise<string | null> {
  return await sql.begin(async (tx) => {
    assertHeld(await heldSessionQuery(tx, round))
    await assertWanted(tx, round.id)
    await tx`UPDATE rounds SET saving_at = clock_timestamp() WHERE id = ${round.id}`
    return await replaceSavedPlan(tx, round, plan)
  })
}

/**
 * Records a commit that the round has pushed to the session branch. When the round is cancelled, the next one does not
 * build on it.
 * Errors: `LeaseLost`.
 */
export async function recordPush(sql: Sql, round: ClaimedRound, commit: string): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSessionQuery(sql, round)})
    UPDATE rounds SET pushed_commit = ${commit} FROM session WHERE rounds.id = ${round.id} RETURNING rounds.id`
  assertHeld(rows)
}
