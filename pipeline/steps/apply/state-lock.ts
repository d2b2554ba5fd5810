import { delay } from '../../../src/base/http.ts'
import { isStateLocked } from '../../../src/plan/state/managed-state.ts'
import type { BareKit } from '../../kit/kit.ts'

const LIMIT_MS = 60_000
const PAUSE_MS = 500

/**
 * Waits up to 60 s while another run, for example a plan of another session, holds the state lock, because the engine
 * would refuse at once and cost a new review. Otherwise leaves the refusal to the engine. Errors: the reason of the
 * run's signal.
 */
export async function waitForStateLock({ run, status }: BareKit, projectId: string): Promise<void> {
  const end = performance.now() + LIMIT_MS
  let isAnnounced = false
  while (performance.now() < end && (await isLocked(run, projectId))) {
    if (!isAnnounced) await status.show('apply', 'Waiting for another run that works on the same state.')
    isAnnounced = true
    await delay(PAUSE_MS, run.signal)
  }
}

/** True if another run holds the lock; false also when the lock cannot be read. */
async function isLocked({ context, signal, log }: BareKit['run'], projectId: string): Promise<boolean> {
  try {
    return (await isStateLocked(context, projectId, signal)) === true
  } catch (error) {
    signal.throwIfAborted()
    log.warn('the lock of the state could not be looked for', { error })
    return false
  }
}
