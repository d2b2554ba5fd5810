import { LeaseLost } from '../src/base/errors.ts'
import { delay } from '../src/base/http.ts'
import type { Context } from '../src/context.ts'
import { finishRound, type RoundEnd } from '../src/rounds/finish.ts'
import type { ClaimedRound } from '../src/rounds/round.ts'

const PAUSES_MS = [250, 1_000, 2_000]

/**
 * Writes the end of a round. When the database cannot be reached, the write is tried four times within 3.25 s, so
 * that a short outage does not lose the result of the round. Answers the end as it was written.
 * Errors: `LeaseLost`, also when the lease is lost during a pause; the last error of the database.
 */
export async function saveEnd(
  context: Pick<Context, 'sql' | 'cache' | 'queue' | 'log'>,
  round: ClaimedRound,
  end: RoundEnd,
  lost: AbortSignal,
): Promise<RoundEnd> {
  for (const pause of PAUSES_MS) {
    try {
      return await finishRound(context, round, end)
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      context.log.warn('the end of the round could not be written yet', { error })
      await delay(pause, lost).catch(() => {
        throw new LeaseLost()
      })
    }
  }
  return await finishRound(context, round, end)
}
