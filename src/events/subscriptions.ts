import type { Logger } from '../base/log.ts'

/** Data that is read from the database once for all its watchers. */
export interface Topic {
  readonly key: string
  readonly listeners: Set<() => void>
}

/** Topics of a periodic reading that one query reads. */
const RESYNCED_AT_ONCE = 250

/**
 * Creates a set of subscriptions. A notification triggers a reading. Since notifications get lost while the connection
 * is down, all topics are also read periodically, some hundred at a time, so that no notification waits for thousands.
 * @param readTopics reads news of at most `batch` topics and calls their listeners
 */
export function createSubscriptions<T extends Topic>(
  readTopics: (topics: T[]) => Promise<void>,
  options: { resyncMs: number; batch: number; log: Logger },
) {
  const topics = new Map<string, T>()
  let timer: ReturnType<typeof setInterval> | null = null
  let later: ReturnType<typeof setTimeout>[] = []
  const read = createBatches(readTopics, options)
  const readQuietly = (topic: T) => void read(topic).catch(() => {})
  const notifyAll = () => topics.forEach(readQuietly)
  const stopTimer = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
    for (const slice of later) clearTimeout(slice)
    later = []
  }
  /** Reads the first topics at once, and the others spread over the period. */
  const resync = () => {
    const all = [...topics.values()]
    const slices = Math.ceil(all.length / RESYNCED_AT_ONCE)
    const read = (index: number) => {
      const start = index * RESYNCED_AT_ONCE
      for (const topic of all.slice(start, start + RESYNCED_AT_ONCE))
        if (topics.get(topic.key) === topic) readQuietly(topic)
    }
    read(0)
    later = Array.from({ length: slices }, (_, index) => index)
      .slice(1)
      .map((index) => setTimeout(read, (index * options.resyncMs) / slices, index))
  }
  return {
    /** Adds a listener to the topic of this key, which is created for the first one. */
    add(key: string, create: () => T, listener: () => void) {
      const known = topics.get(key)
      const topic = known ?? create()
      topics.set(key, topic)
      topic.listeners.add(listener)
      timer ??= setInterval(resync, options.resyncMs)
      const close = () => {
        if (!topic.listeners.delete(listener) || topic.listeners.size > 0) return
        if (topics.get(key) === topic) topics.delete(key)
        if (topics.size === 0) stopTimer()
      }
      return { topic, isNew: !known, close }
    },
    /** Resolves after a reading that began after this call. Throws the errors of the reading. */
    read,
    /** Reads the topic of this key if it is watched. Failures are logged. */
    notify(key: string): void {
      const topic = topics.get(key)
      if (topic) readQuietly(topic)
    },
    notifyAll,
    close() {
      stopTimer()
      topics.clear()
    },
  }
}

/** Reads in batches, one at a time. Requests during a reading are combined into the next, so results are current. */
export function createBatches<T>(
  readAll: (items: T[]) => Promise<void>,
  { batch: size, log }: { batch: number; log: Logger },
): (item: T) => Promise<void> {
  const waiting = new Map<T, PromiseWithResolvers<void>>()
  let isBusy = false
  const drain = async () => {
    if (isBusy) return
    isBusy = true
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, size)
      for (const [item] of batch) waiting.delete(item)
      try {
        await readAll(batch.map(([item]) => item))
        for (const [, answer] of batch) answer.resolve()
      } catch (error) {
        log.warn('what is watched could not be read', { error })
        for (const [, answer] of batch) answer.reject(error)
      }
    }
    isBusy = false
  }
  return (item) => {
    const answer = waiting.get(item) ?? Promise.withResolvers<void>()
    waiting.set(item, answer)
    void drain()
    return answer.promise
  }
}
