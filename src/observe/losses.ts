import type { Logger } from '../base/log.ts'

/** Reports to the log what becomes of spans, at most one line a minute of each kind. */
export interface LossReport {
  /** So many spans could not be delivered. */
  reportLost(spans: number, reason: string): void
  /** A span could not be recorded. */
  reportTrouble(error: unknown): void
  /** The collector did not take the last spans within the limit. */
  reportLate(limitMs: number): void
  /** Writes the losses that were held back. */
  flush(): void
}

const PERIOD_MS = 60_000

/**
 * Losses within a minute after a line are counted and written with the next one.
 * @param now milliseconds of a monotonic clock
 */
export function reportLosses(log: Logger, now: () => number = () => performance.now()): LossReport {
  let lastWrite = Number.NEGATIVE_INFINITY
  let lastTrouble = Number.NEGATIVE_INFINITY
  let pending = { spans: 0, reason: '' }
  const writePending = () => {
    if (pending.spans === 0) return
    log.warn('spans could not be handed to the collector', { ...pending })
    pending = { spans: 0, reason: '' }
    lastWrite = now()
  }
  return {
    flush: writePending,
    reportLost: (spans, reason) => {
      pending = { spans: pending.spans + spans, reason }
      if (now() - lastWrite >= PERIOD_MS) writePending()
    },
    reportTrouble: (error) => {
      if (now() - lastTrouble < PERIOD_MS) return
      lastTrouble = now()
      log.warn('a span could not be recorded', { error })
    },
    reportLate: (limitMs) => log.warn(`the collector did not take the last spans within ${limitMs / 1000} s`),
  }
}
