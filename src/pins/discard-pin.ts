import type { Transaction } from '../data/db/types.ts'
import type { ClaimedRound } from '../sessions/types.ts'

/** Takes the session's seal away: nothing is pinned any more. Part of a transaction that holds the session. */
export async function discardPin(tx: Transaction, round: ClaimedRound): Promise<void> {
  await tx`DELETE FROM pins WHERE session_id = ${round.session.id}`
}
