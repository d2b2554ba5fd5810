import type { Transaction } from '../data/db/types.ts'
import type { RoundQueue } from '../data/queue/types.ts'
import type { ClaimedRound } from '../sessions/types.ts'

/**
 * Forgets the output of an ending apply round, gives back the project that it held and offers the rounds that
 * wait for it; the first one takes it, the others wait on. Part of the transaction that ends the round.
 */
export async function endApply(
  queue: Pick<RoundQueue, 'enqueue'>,
  tx: Transaction,
  round: ClaimedRound,
): Promise<void> {
  await tx`UPDATE applies SET result = NULL WHERE round_id = ${round.id}`
  const held = await tx<
    { project_id: string }[]
  >`DELETE FROM project_applies WHERE round_id = ${round.id} RETURNING project_id`
  // A statement of its own: a round that was just parked is seen only from here on.
  for (const { project_id } of held) {
    const woken = await tx<{ id: number }[]>`
      UPDATE rounds SET lease_until = NULL FROM applies
      WHERE applies.project_id = ${project_id} AND applies.waiting_since IS NOT NULL AND rounds.id = applies.round_id
        AND rounds.parked AND rounds.finished_at IS NULL
      RETURNING rounds.id`
    for (const { id } of woken) await queue.enqueue(tx, id)
  }
}
