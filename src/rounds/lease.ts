import { LeaseLost } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Sql } from '../data/db/sql.ts'
import type { ClaimedRound } from './round.ts'
import { extendLease, LEASE_SECONDS } from './transitions.ts'

const RENEW_EVERY_MS = 1_500

/**
 * Extends the lease of a round every 1.5 s while the round runs. The lease counts as lost when it could not be extended
 * for 6 s, because from then on another worker may claim the round; then the signal fires with `LeaseLost`. Time in which
 * the event loop was blocked does not count, because the process may have extended the lease elsewhere: the next
 * extension tells whether it is lost.
 * @param onCancel called with the cancelling user at each extension that finds the round cancelled
 */
export function keepLease(sql: Sql, round: ClaimedRound, log: Logger, onCancel: (by: string) => void) {
  const lost = new AbortController()
  let heldUntil = performance.now() + LEASE_SECONDS * 1000
  let renewing = false
  let ticked = performance.now()
  const renew = async () => {
    const sent = performance.now()
    renewing = true
    try {
      const by = await extendLease(sql, round)
      heldUntil = Math.max(heldUntil, sent + LEASE_SECONDS * 1000)
      if (by !== null) onCancel(by)
    } catch (error) {
      if (error instanceof LeaseLost) lost.abort(error)
      else log.warn('the lease could not be extended', { error })
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => {
    const now = performance.now()
    if (now - ticked > 2 * RENEW_EVERY_MS) heldUntil = Math.max(heldUntil, now + 2 * RENEW_EVERY_MS)
    ticked = now
    if (lost.signal.aborted) return
    if (now > heldUntil) lost.abort(new LeaseLost())
    else if (!renewing) void renew()
  }, RENEW_EVERY_MS)
  return { signal: lost.signal, stop: () => clearInterval(timer) }
}
