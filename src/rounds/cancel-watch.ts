import type { Logger } from '../base/log.ts'
import type { Sql } from '../data/db/sql.ts'
import { CANCEL_CHANNEL } from './cancel.ts'
import { readCancelledBy } from './transitions.ts'

/** Receives cancellations of rounds over the LISTEN connection of the process. */
export interface CancelWatch {
  /** Calls `onCancel` at each notification until unsubscribed. Extensions of the lease find lost notifications. */
  watch(roundId: number, onCancel: (by: string) => void): () => void
  close(): Promise<void>
}

/** Subscribes this process. Throws when the database cannot be reached. */
export async function startCancelWatch(sql: Sql, log: Logger): Promise<CancelWatch> {
  const watched = new Map<number, Set<(by: string) => void>>()
  const look = async (roundId: number) => {
    if (!watched.has(roundId)) return
    try {
      const by = await readCancelledBy(sql, roundId)
      if (by !== null) for (const onCancel of watched.get(roundId) ?? []) onCancel(by)
    } catch (error) {
      log.warn('a cancellation could not be read; the next extension of the lease reads it again', {
        round_id: roundId,
        error,
      })
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
    watch: (roundId, onCancel) => {
      const listeners = watched.get(roundId) ?? new Set()
      watched.set(roundId, listeners.add(onCancel))
      return () => {
        listeners.delete(onCancel)
        if (listeners.size === 0 && watched.get(roundId) === listeners) watched.delete(roundId)
      }
    },
    close: async () => {
      watched.clear()
      await subscription.unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
    },
  }
}
