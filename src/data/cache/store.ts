/** A key-value store with expiring entries. It throws on every fault; `guard` makes a `Cache` of it. */
export interface CacheStore {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ttlSeconds: number): Promise<void>
  delete(keys: string[]): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store refused this one command, for example because it is full. This is not an outage. */
export class CacheRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CacheRefusal'
  }
}

/**
 * Returns a function that runs at most `limit` pieces of work concurrently. Others wait in order, at most `waitMs`
 * milliseconds. Throws `no free cache connection within <s> s`, and the errors of the work.
 */
export function createSlots(limit: number, waitMs: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = limit
  const queue: (() => void)[] = []

  const acquire = async () => {
    if (free > 0) {
      free--
      return
    }
    const turn = Promise.withResolvers<void>()
    queue.push(turn.resolve)
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(turn.resolve), 1)
      turn.reject(new Error(`no free cache connection within ${waitMs / 1000} s`))
    }, waitMs)
    await turn.promise.finally(() => clearTimeout(timer))
  }
  const release = () => {
    const next = queue.shift()
    if (next) next()
    else free++
  }
  return async (work) => {
    await acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }
}
