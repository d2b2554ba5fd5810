import { PlatformError } from '../../../src/base/errors.ts'
import { delay } from '../../../src/base/http.ts'
import type { BareKit } from '../../kit/kit.ts'

const LIMIT_MS = 60_000
const PAUSE_MS = 500

/**
 * Waits a while for another run, a plan of another session for example, that has locked the managed state:
 * the engine would refuse at once, and the reviewed plan would be lost for nothing. Where the lock cannot be
 * seen, or stays, the engine decides.
 * Errors: the reason of the run's signal.
 */
export async function waitForStateLock({ run, status }: BareKit, project_id: string): Promise<void> {
  const end = performance.now() + LIMIT_MS
  let told = false
  while (performance.now() < end && (await isLocked(run, project_id))) {
    if (!told) await status.show('apply', 'Waiting for another run that works on the same state.')
    told = true
    await delay(PAUSE_MS, run.signal)
  }
}

/** The lock file that the override of S3 asks for. A lease of a blob is not visible this way. */
async function isLocked({ context, signal, log }: BareKit['run'], project_id: string): Promise<boolean> {
  if (!context.state_store || context.config.storage.provider === 'STORAGE_ACCOUNT') return false
  try {
    await context.state_store.get(`${project_id}/${context.config.storage.engine_state_filename}.tflock`, { signal })
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof PlatformError) || error.status !== 404)
      log.warn('the lock of the state could not be looked for', { error })
    return false
  }
}
