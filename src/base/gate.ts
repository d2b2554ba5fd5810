import { Busy } from './errors.ts'

/**
 * Limits how much heavy work runs concurrently.
 * @param options.atOnce maximum concurrent work
 * @param options.waiting maximum waiting callers
 * @param options.waitMs longest wait
 * @param options.busy text of the error for rejected callers
 */
export function createGate(options: { atOnce: number; waiting: number; waitMs: number; busy: string }) {
  const { atOnce, waiting, waitMs, busy } = options
  let running = 0
  const queue: (() => void)[] = []
  const enter = (signal?: AbortSignal): Promise<void> => {
    const refusal = () => new Busy(busy, Math.ceil(waitMs / 1000))
    if (running < atOnce) {
      running++
      return Promise.resolve()
    }
    if (queue.length >= waiting || signal?.aborted) throw refusal()
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(admit), 1)
        settle()
        reject(refusal())
      }
      const timer = setTimeout(leave, waitMs)
      const settle = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
      }
      const admit = () => {
        settle()
        resolve()
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.push(admit)
    })
  }
  return {
    /**
     * Runs `work` as soon as there is capacity, in the order of the calls. Throws `Busy` when too many callers wait,
     * when the wait takes too long or when the waiting caller's signal fires; also the errors of `work`.
     */
    async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      await enter(signal)
      try {
        return await work()
      } finally {
        const next = queue.shift()
        // The slot passes to the next caller directly, so that no other call can take it in between.
        if (next) next()
        else running--
      }
    },
  }
}
export type Gate = ReturnType<typeof createGate>

/** Does the work for all items, `limit` in parallel. The first failure is thrown and stops further items. */
export async function forEachOf<Item>(items: readonly Item[], limit: number, work: (item: Item) => Promise<unknown>) {
  const queue = items.values()
  let failed = false
  const worker = async () => {
    for (const item of queue) {
      if (failed) return
      await work(item).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}

/** Waits for all, and throws the failure of the first in the order of the list that failed. */
export async function allInOrder<Values extends readonly unknown[]>(
  work: {
    [Index in keyof Values]: Promise<Values[Index]>
  },
): Promise<Values> {
  await Promise.allSettled(work)
  return (await Promise.all(work)) as unknown as Values
}
