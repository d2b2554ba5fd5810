import type { Logger } from '../base/log.ts'

/** How spans that are lost, and spans that cannot be recorded, reach the log: one line a minute at most. */
export interface LossReport {
  lost(spans: number, reason: string): void
  trouble(error: unknown): void
  late(limit_ms: number): void
  /** Writes what was held back. */
  tell(): void
}

const PERIOD_MS = 60_000

/** @param now milliseconds of a monotonic clock */
export function reportLosses(log: Logger, now: () => number = () => performance.now()): LossReport {
  let told = Number.NEGATIVE_INFINITY
  let troubled = Number.NEGATIVE_INFINITY
  let waiting = { spans: 0, reason: '' }
  const tell = () => {
    if (waiting.spans === 0) return
    log.warn('spans could not be handed to the collector', { ...waiting })
    waiting = { spans: 0, reason: '' }
    told = now()
  }
  return {
    tell,
    lost: (spans, reason) => {
      waiting = { spans: waiting.spans + spans, reason }
      if (now() - told >= PERIOD_MS) tell()
    },
    trouble: (error) => {
      if (now() - troubled < PERIOD_MS) return
      troubled = now()
      log.warn('a span could not be recorded', { error })
    },
    late: (limit_ms) => log.warn(`the collector did not take the last spans within ${limit_ms / 1000} s`),
  }
}
