import { Busy } from './errors.ts'

/** Lets only so many pieces of heavy work run at once. */
export interface Gate {
  /**
   * Runs `work` as soon as there is room, in the order of the calls.
   * Errors: `Busy` when too many wait already, when the wait takes too long, and when the signal of a waiting caller
   * fires; those of `work`.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * @param options.atOnce pieces of work that run at the same time
 * @param options.waiting callers that may wait for their turn
 * @param options.waitMs longest wait
 * @param options.busy text of the error for callers that get no turn
 */
export function createGate(options: { atOnce: number; waiting: number; waitMs: number; busy: string }): Gate {
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
    async run(work, signal) {
      await enter(signal)
      try {
        return await work()
      } finally {
        const next = queue.shift()
        // The place passes to the next caller directly, so that no other call can take it in between.
        if (next) next()
        else running--
      }
    },
  }
}
