import {
  CALL_MS,
  type CreatedPullRequest,
  type HostAccess,
  isUncertain,
  isUnreadable,
  refusedWith,
  waitBetween,
} from './host.ts'

/** Most repetitions of a change of which nobody knows whether the host carried it out. */
const REPETITIONS = 2

/**
 * Opens a pull request so that the call can be repeated: where the host may have opened it earlier, because an answer
 * got lost or it says that there is one, the open one of the two branches is returned. Errors: those of `create`.
 * @param find looks for the open pull request of the two branches; null without one
 */
export async function createOnce(
  access: HostAccess,
  signal: AbortSignal,
  { create, find }: { create(): Promise<CreatedPullRequest>; find(): Promise<CreatedPullRequest | null> },
): Promise<CreatedPullRequest> {
  for (let repetition = 0; ; repetition++) {
    try {
      return await create()
    } catch (error) {
      const mayExist = isUncertain(error) || isUnreadable(error) || refusedWith(error, 409) || refusedWith(error, 422)
      if (!mayExist) throw error
      const earlier = await find().catch(() => undefined)
      signal.throwIfAborted()
      if (earlier) return earlier
      if (earlier === undefined || !(await mayRepeat(access, signal, error, repetition))) throw error
    }
  }
}

/**
 * Repeats a merge of which nobody knows whether the host carried it out; it begins by reading the state. Errors: those
 * of `merge`.
 */
export async function mergeOnce<End>(access: HostAccess, signal: AbortSignal, merge: () => Promise<End>): Promise<End> {
  for (let repetition = 0; ; repetition++) {
    try {
      return await merge()
    } catch (error) {
      if (!(await mayRepeat(access, signal, error, repetition))) throw error
    }
  }
}

/** Waits before another repetition, and reports false when there is none. Errors: the reason of the signal. */
async function mayRepeat(access: HostAccess, signal: AbortSignal, error: unknown, done: number): Promise<boolean> {
  if (!isUncertain(error) || done >= REPETITIONS || access.until - performance.now() < CALL_MS) return false
  await waitBetween(done, signal)
  return true
}
