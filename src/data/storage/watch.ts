import type { Logger } from '../../base/log.ts'
import type { ObjectStore } from './object-store.ts'

/** What is missing while the object store is away, for logs and the readiness check. */
export const WITHOUT_STORE =
  'Reports, plans and code cannot be opened, new pull requests lack their evidence, and rounds wait for the store and ' +
  'fail when it stays away. Sessions, lists and streams are answered.'

/** How old a look may become before another begins, and how long one may take. */
const LOOK_AGAIN_MS = 10_000
const LOOK_LIMIT_MS = 5_000

/**
 * Makes the `isOn` of a store, which tells the last look and never waits for one. Nothing is looked at while nobody
 * asks. The store is taken to be on until a look has failed, because a process starts with its buckets alone.
 * @param look throws when the store cannot be used
 */
export function watchStore(
  look: (signal: AbortSignal) => Promise<void>,
  { log, now }: { log: Logger; now: () => Date },
): ObjectStore['isOn'] {
  let isOn = true
  let isLooking = false
  let nextLook = 0
  const turn = (on: boolean, say: () => void) => {
    if (on !== isOn) say()
    isOn = on
  }
  const lookNow = async () => {
    isLooking = true
    nextLook = now().getTime() + LOOK_AGAIN_MS
    await look(AbortSignal.timeout(LOOK_LIMIT_MS)).then(
      () => turn(true, () => log.info('the object store is back')),
      (error: unknown) =>
        turn(false, () => log.warn('the object store cannot be used', { error, effect: WITHOUT_STORE })),
    )
    isLooking = false
  }
  return () => {
    if (!isLooking && now().getTime() >= nextLook) void lookNow()
    return isOn
  }
}
