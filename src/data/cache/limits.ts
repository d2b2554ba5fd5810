/** Rejects when `work` takes longer than `ms`; its own outcome is then dropped. */
export async function timeLimit<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * At most `limit` pieces of work at a time; the others wait their turn, at most `waitMs`.
 * Errors: `no free cache connection within <s> s`.
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
