import type { Logger } from '../base/log.ts'

/** How spans that are lost, and spans that cannot be recorded, reach the log: one line a minute at most. */
export interface LossReport {
  lost(spans: number, reason: string): void
  trouble(error: unknown): void
  late(limitMs: number): void
  /** Writes what was held back. */
  writePending(): void
}

const PERIOD_MS = 60_000

/** @param now milliseconds of a monotonic clock */
export function reportLosses(log: Logger, now: () => number = () => performance.now()): LossReport {
  let lastWrite = Number.NEGATIVE_INFINITY
  let lastTrouble = Number.NEGATIVE_INFINITY
  let pending = { spans: 0, reason: '' }
  const tell = () => {
    if (pending.spans === 0) return
    log.warn('spans could not be handed to the collector', { ...pending })
    pending = { spans: 0, reason: '' }
    lastWrite = now()
  }
  return {
    writePending: tell,
    lost: (spans, reason) => {
      pending = { spans: pending.spans + spans, reason }
      if (now() - lastWrite >= PERIOD_MS) tell()
    },
    trouble: (error) => {
      if (now() - lastTrouble < PERIOD_MS) return
      lastTrouble = now()
      log.warn('a span could not be recorded', { error })
    },
    late: (limitMs) => log.warn(`the collector did not take the last spans within ${limitMs / 1000} s`),
  }
}
