import { LeaseLost } from '../src/base/errors.ts'
import { delay } from '../src/base/http.ts'
import type { Context } from '../src/context.ts'
import { finishRound, type RoundEnd } from '../src/sessions/finish.ts'
import type { ClaimedRound } from '../src/sessions/types.ts'

const PAUSES_MS = [250, 1_000, 2_000]

/**
 * Writes the end of a round. A database that is away for a moment costs a wait, not the round.
 * Errors: `LeaseLost`, also when the wait was ended by it; the last error of the database.
 */
export async function saveEnd(
  context: Pick<Context, 'sql' | 'cache' | 'queue' | 'log'>,
  round: ClaimedRound,
  end: RoundEnd,
  lost: AbortSignal,
): Promise<void> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      return await finishRound(context, round, end)
    } catch (error) {
      if (error instanceof LeaseLost || pause === null) throw error
      context.log.warn('the end of the round could not be written yet', { error })
      await delay(pause, lost).catch(() => {
        throw new LeaseLost()
      })
    }
  }
}
