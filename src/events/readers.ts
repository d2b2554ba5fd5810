import { Busy } from '../base/errors.ts'

/** Who reads a stream. */
export interface Reader {
  user_id: number
  /** Streams with the same key are checked together. */
  key: string
  /** Reports whether the user may still read. Rejects while that cannot be told. */
  mayRead(): Promise<boolean>
}

/** Seconds after which a refused reader may try again. */
const RETRY_AFTER_S = 10

/**
 * Counts the open streams of each user, and checks again whether their readers may read.
 * @param limits.perUser most open streams of a user in this process; 0 allows any number
 * @param limits.checkMs milliseconds for which the answer of a check counts for all streams with its key
 */
export function createReaders({ perUser, checkMs }: { perUser: number; checkMs: number }) {
  const open = new Map<number, number>()
  const checks = new Map<string, { streams: number; at: number; answer: Promise<boolean> }>()
  return {
    /**
     * Adds a stream of a reader who has just been checked. Throws 429 when the user has too many.
     * @returns `mayRead`, which asks at most once in `checkMs`, and `leave`, to be called once
     */
    enter({ user_id, key, mayRead }: Reader) {
      const count = open.get(user_id) ?? 0
      if (perUser > 0 && count >= perUser)
        throw new Busy(`${perUser} streams of this user are open. Close some, then try again.`, RETRY_AFTER_S, 429)
      open.set(user_id, count + 1)
      const check = checks.get(key) ?? { streams: 0, at: 0, answer: Promise.resolve(true) }
      checks.set(key, Object.assign(check, { at: performance.now(), answer: Promise.resolve(true) }))
      check.streams++
      return {
        mayRead: (): Promise<boolean> => {
          if (performance.now() - check.at >= checkMs) {
            check.at = performance.now()
            check.answer = mayRead()
          }
          return check.answer
        },
        leave: () => {
          if (--check.streams === 0) checks.delete(key)
          const left = (open.get(user_id) ?? 1) - 1
          if (left > 0) open.set(user_id, left)
          else open.delete(user_id)
        },
      }
    },
  }
}
