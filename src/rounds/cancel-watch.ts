import type { Logger } from '../base/log.ts'
import type { Sql } from '../data/db/types.ts'
import { CANCEL_CHANNEL } from './cancel.ts'
import { readWish } from './wish.ts'

/** Hears of wishes that rounds end, over the one LISTEN connection of the process. */
export interface CancelWatch {
  /**
   * Calls back with who wants the round to end, as often as that is heard, until the answered function is called. A
   * notification can get lost; therefore the lease of a round looks for the wish as well.
   */
  watch(roundId: number, onWish: (by: string) => void): () => void
  close(): Promise<void>
}

/** Opens the watch of this process. Errors: the database cannot be reached. */
export async function startCancelWatch(sql: Sql, log: Logger): Promise<CancelWatch> {
  const watched = new Map<number, Set<(by: string) => void>>()
  const look = async (roundId: number) => {
    if (!watched.has(roundId)) return
    try {
      const by = await readWish(sql, roundId)
      if (by !== null) for (const onWish of watched.get(roundId) ?? []) onWish(by)
    } catch (error) {
      log.warn('whether a round is cancelled could not be read; its lease looks again', { round_id: roundId, error })
    }
  }
  const subscription = await sql.listen(
    CANCEL_CHANNEL,
    (payload) => void look(Number(payload)),
    () => {
      for (const roundId of watched.keys()) void look(roundId)
    },
  )
  return {
    watch: (roundId, onWish) => {
      const listeners = watched.get(roundId) ?? new Set()
      watched.set(roundId, listeners.add(onWish))
      return () => {
        listeners.delete(onWish)
        if (listeners.size === 0 && watched.get(roundId) === listeners) watched.delete(roundId)
      }
    },
    close: async () => {
      watched.clear()
      await subscription.unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
    },
  }
}
