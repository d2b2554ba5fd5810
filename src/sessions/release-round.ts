import { LeaseLost } from '../base/errors.ts'
import type { Context } from '../context.ts'
import type { ClaimedRound } from './types.ts'

/**
 * Hands a round back in good order, for a worker that stops: it counts as no interruption and is
 * offered to the other workers at once.
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
