import { delay } from '../../../src/base/http.ts'
import { isStateLocked } from '../../../src/plan/state/managed-state.ts'
import type { BareKit } from '../../kit/kit.ts'

const LIMIT_MS = 60_000
const PAUSE_MS = 500

/**
 * Waits for up to 60 s while another run, for example the plan of another session, has locked the managed state.
 * Without the wait the engine would refuse at once, and the reviewed plan would have to be made and reviewed again.
 * When the lock cannot be seen, or is still there after the wait, it is left to the engine to refuse.
 * Errors: the reason of the run's signal.
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

/** True if another run holds the lock; false also where it cannot be seen. */
async function isLocked({ context, signal, log }: BareKit['run'], projectId: string): Promise<boolean> {
  try {
    return (await isStateLocked(context, projectId, signal)) === true
  } catch (error) {
    signal.throwIfAborted()
    log.warn('the lock of the state could not be looked for', { error })
    return false
  }
}
