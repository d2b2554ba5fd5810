import type { Logger } from '../base/log.ts'
import type { TerminalStatus } from '../base/vocabulary.ts'
import type { Sql } from '../data/db/types.ts'
import { bellOf, EVENTS_BELL } from './bell.ts'
import { createFeed, type Feed } from './feed.ts'
import type { Frame } from './frames.ts'
import { type Beginning, readBeginning, readPages, readRoundEnd, type Wanted } from './read-log.ts'
import type { JournalChannel } from './round-event.ts'

/**
 * Tells streams of new events of their sessions. A notification only says that there are some; they are read for all
 * watchers together. A notification can get lost, therefore one query reads for all watched sessions every five seconds.
 */
export interface JournalHub {
  /**
   * Where a watcher of a session begins; null when the session has no round of this number.
   * Errors: the database cannot be reached.
   */
  begin(session: { id: number; uuid: string }, channel: JournalChannel, round: number | null): Promise<Beginning | null>
  /** Watches a session; `onNews` is called when its feed has more events. */
  follow(
    session: { id: number; uuid: string },
    channel: JournalChannel,
    head: number,
    onNews: () => void,
  ): { feed: Feed; close: () => void }
  /**
   * Reads events that a feed does not have any more, at most one page. Watchers at the same place share a reading.
   * @param isLast the reading must begin now, because the events are complete since a moment ago
   */
  page(wanted: Wanted, isLast: boolean): Promise<readonly Frame[]>
  /** How a round ended; null while it has not. */
  roundEnd(sessionId: number, round: number): Promise<TerminalStatus | null>
}

const RESYNC_MS = 5_000
/** Most feeds that one query reads, since each may answer a whole page. */
const BATCH = 200

/**
 * Makes the hub of a core. It listens from the first watcher on, on the connection that all listeners of `sql` share.
 * @param closing ends it
 */
export function createJournalHub(
  sql: Sql,
  log: Logger,
  closing: AbortSignal,
  options: { resyncMs?: number } = {},
): JournalHub {
  const feeds = createFeeds(sql, log, options.resyncMs ?? RESYNC_MS)
  const share = createSharing()
  let listening: ReturnType<Sql['listen']> | null = null
  const listen = () => {
    listening ??= sql.listen(EVENTS_BELL, feeds.ring, feeds.ringAll).catch((error: unknown) => {
      listening = null
      throw error
    })
    return listening
  }
  closing.addEventListener('abort', () => {
    feeds.clear()
    listening
      ?.then((subscription) => subscription.unlisten())
      .catch((error: unknown) => log.debug('unlisten failed', { error }))
  })
  return {
    begin: async (session, channel, round) => {
      if (!closing.aborted) await listen()
      return await readBeginning(sql, session.id, channel, round)
    },
    follow: feeds.follow,
    page: (wanted, isLast) =>
      share(JSON.stringify([wanted, isLast]), async () => (await readPages(sql, [wanted]))[0]?.frames ?? []),
    roundEnd: (sessionId, round) => readRoundEnd(sql, sessionId, round),
  }
}

/** Lets callers that ask for the same at the same time share one answer. */
function createSharing() {
  const running = new Map<string, Promise<readonly Frame[]>>()
  return (key: string, work: () => Promise<readonly Frame[]>): Promise<readonly Frame[]> => {
    const known = running.get(key)
    if (known) return known
    const answer = work().finally(() => running.delete(key))
    running.set(key, answer)
    return answer
  }
}

/** Reads what is new in feeds, one query at a time: feeds whose bell rings during a query are read by the next one. */
function createNewsReader(sql: Sql, log: Logger) {
  const rung = new Set<Feed>()
  let isReading = false

  const readNews = async (batch: readonly Feed[]) => {
    const wanted = batch.map(({ sessionId, channel, head }) => ({ sessionId, channel, after: head, round: null }))
    const pages = await readPages(sql, wanted)
    for (const [index, feed] of batch.entries()) {
      const page = pages[index]
      if (!page) continue
      feed.add(page.frames)
      if (page.isFull && feed.listeners.size > 0) rung.add(feed)
    }
  }
  const drain = async () => {
    if (isReading) return
    isReading = true
    while (rung.size > 0) {
      const batch = [...rung].slice(0, BATCH)
      for (const feed of batch) rung.delete(feed)
      // What could not be read is read again at the next bell, or five seconds later.
      await readNews(batch).catch((error: unknown) => log.warn('events of sessions could not be read', { error }))
    }
    isReading = false
  }
  return {
    read: (feeds: Iterable<Feed>) => {
      for (const feed of feeds) rung.add(feed)
      void drain()
    },
    forget: () => rung.clear(),
  }
}

/** The feeds of all watched sessions. While there are any, all of them are read periodically. */
function createFeeds(sql: Sql, log: Logger, resyncMs: number) {
  const feeds = new Map<string, Feed>()
  const news = createNewsReader(sql, log)
  let timer: ReturnType<typeof setInterval> | null = null
  const ringAll = () => news.read(feeds.values())
  const ring = (key: string) => {
    const feed = feeds.get(key)
    if (feed) news.read([feed])
  }
  const stopTimer = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  const follow: JournalHub['follow'] = (session, channel, head, onNews) => {
    const key = bellOf(channel, session.uuid)
    const known = feeds.get(key)
    const feed = known ?? createFeed(session.id, channel, head)
    feeds.set(key, feed)
    feed.listeners.add(onNews)
    timer ??= setInterval(ringAll, resyncMs)
    // Bells between the reading of `head` and now were for nobody.
    if (!known) ring(key)
    const close = () => {
      if (!feed.listeners.delete(onNews)) return
      if (feed.listeners.size === 0 && feeds.get(key) === feed) feeds.delete(key)
      if (feeds.size === 0) stopTimer()
    }
    return { feed, close }
  }
  const clear = () => {
    stopTimer()
    feeds.clear()
    news.forget()
  }
  return { ring, ringAll, follow, clear }
}
