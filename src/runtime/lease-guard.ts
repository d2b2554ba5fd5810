import { Worker } from 'node:worker_threads'
import type { Logger } from '../base/log.ts'
import type { HeldLease } from '../rounds/round.ts'

/** Milliseconds between two signs of life of the process. */
export const BEAT_MS = 1_000

export interface LeaseThreadData {
  url: string
}

/**
 * Makes the guard whose thread extends the leases of this process while its event loop is blocked, for at most two
 * minutes: a worker that reads a large plan lives, and no other one may claim its rounds. When the thread fails, rounds
 * run on without this protection. It starts with the first round, because an idle worker does without its memory.
 * @param url of the database
 */
export function startLeaseGuard(url: string, log: Logger) {
  const held = new Map<number, HeldLease>()
  const workerData: LeaseThreadData = { url }
  const start = (): Worker => {
    const started = new Worker(new URL('./lease-thread.ts', import.meta.url), { workerData, execArgv: [] })
    started.once('error', (error) => log.error('the thread that keeps leases has ended', { error }))
    started.unref()
    return started
  }
  let thread: Worker | undefined
  const beat = () => thread?.postMessage([...held.values()])
  const timer = setInterval(beat, BEAT_MS)
  return {
    /** Guards the lease of a round until the returned function is called. */
    hold: ({ id, fence, session }: HeldLease): (() => void) => {
      held.set(id, { id, fence, session: { id: session.id } })
      thread ??= start()
      beat()
      return () => {
        held.delete(id)
        beat()
      }
    },
    close: async (): Promise<void> => {
      clearInterval(timer)
      await thread?.terminate()
    },
  }
}
