import { LeaseLost } from '../src/base/errors.ts'
import type { Logger } from '../src/base/log.ts'
import type { Sql } from '../src/data/db/types.ts'
import { extendLease, LEASE_SECONDS } from '../src/sessions/lease.ts'
import type { ClaimedRound } from '../src/sessions/types.ts'

const BEAT_MS = 1_500

export interface Lease {
  /** Fires with `LeaseLost` when another worker has the round, or may have it. */
  signal: AbortSignal
  stop(): void
}

/**
 * Keeps the lease of a round while it runs. A lease that could not be moved on in time counts as
 * lost, because from then on another worker may take the round.
 */
export function keepLease(sql: Sql, round: ClaimedRound, log: Logger): Lease {
  const lost = new AbortController()
  let held_until = performance.now() + LEASE_SECONDS * 1000
  let beating = false
  const beat = async () => {
    const sent = performance.now()
    beating = true
    try {
      await extendLease(sql, round)
      held_until = sent + LEASE_SECONDS * 1000
    } catch (error) {
      if (error instanceof LeaseLost) lost.abort(error)
      else log.warn('the lease could not be moved on', { error })
    } finally {
      beating = false
    }
  }
  const timer = setInterval(() => {
    if (lost.signal.aborted) return
    if (performance.now() > held_until) lost.abort(new LeaseLost())
    else if (!beating) void beat()
  }, BEAT_MS)
  return { signal: lost.signal, stop: () => clearInterval(timer) }
}
