import type { Logger } from '../base/log.ts'

/** Something that is read from the database for all who watch it together. */
export interface Topic {
  readonly key: string
  readonly listeners: Set<() => void>
}

/** The topics that somebody watches. */
export interface Subscriptions<T extends Topic> {
  /** Adds a listener to the topic of this key, which is created for the first one. */
  add(key: string, create: () => T, listener: () => void): { topic: T; isNew: boolean; close: () => void }
  /** Resolves when a reading has ended that began after this call. Errors: those of the reading. */
  read(topic: T): Promise<void>
  /** Reads the topic of this key, if somebody watches it. A reading that fails is logged. */
  notify(key: string): void
  notifyAll(): void
  close(): void
}

/**
 * Makes a set of subscriptions. A notification only says that there is something new; it is read then. A notification
 * can get lost while the connection is broken, therefore all topics are read periodically as well.
 * @param readTopics reads what is new in topics, at most `batch` of them, and calls their listeners
 */
export function createSubscriptions<T extends Topic>(
  readTopics: (topics: T[]) => Promise<void>,
  options: { resyncMs: number; batch: number; log: Logger },
): Subscriptions<T> {
  const topics = new Map<string, T>()
  let timer: ReturnType<typeof setInterval> | null = null
  const read = createBatches(readTopics, options)
  const readQuietly = (topic: T) => void read(topic).catch(() => {})
  const notifyAll = () => topics.forEach(readQuietly)
  const stopTimer = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    add(key, create, listener) {
      const known = topics.get(key)
      const topic = known ?? create()
      topics.set(key, topic)
      topic.listeners.add(listener)
      timer ??= setInterval(notifyAll, options.resyncMs)
      const close = () => {
        if (!topic.listeners.delete(listener) || topic.listeners.size > 0) return
        if (topics.get(key) === topic) topics.delete(key)
        if (topics.size === 0) stopTimer()
      }
      return { topic, isNew: !known, close }
    },
    read,
    notify(key) {
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

/**
 * Reads in batches, one at a time: what is asked for while a reading runs is read together by the next one. So an
 * answer is never older than its request, and an older answer never arrives after a newer one.
 */
function createBatches<T>(
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
