import { sessionNotFound } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Status } from '../base/vocabulary.ts'
import type { Sql } from '../data/db/sql.ts'
import { readAllFacts, type SessionFacts } from '../rounds/round.ts'
import { STATUS_CHANNEL } from '../rounds/transitions.ts'
import { EVENTS_CHANNEL, type PageRequest, readBeginning, readPages, readRoundEnd } from './log-rows.ts'
import { type Backlog, createBacklog, type Frame } from './reader-backlog.ts'
import type { EventChannel } from './round-event.ts'
import { createBatches, createSubscriptions, type Topic } from './subscriptions.ts'

export interface SessionState {
  status: Status
  message: string | null
  in_flight: boolean
}

type SessionKey = Pick<SessionFacts, 'id' | 'uuid'>

/** Notifies the streams of a process of changes of their sessions, over one LISTEN connection. */
export type EventHub = Awaited<ReturnType<typeof startEventHub>>

const RESYNC_MS = 5_000
/** Maximum backlogs per query, since each may return a whole page. */
const BACKLOGS_PER_QUERY = 200
/** Maximum sessions of new streams per query. */
const SEARCHES_PER_QUERY = 500

/** Opens this process's LISTEN connection. After a loss it is reopened and everything watched is reread. */
export async function startEventHub(sql: Sql, log: Logger, options: { resyncMs?: number } = {}) {
  const { resyncMs = RESYNC_MS } = options
  const closing = new AbortController()
  const states = createSubscriptions<StateTopic>((topics) => readStates(sql, topics), {
    resyncMs,
    batch: Number.POSITIVE_INFINITY,
    log,
  })
  const backlogs = createSubscriptions<Backlog>(
    async (topics) => {
      for (const backlog of await readNews(sql, topics)) backlogs.notify(backlog.key)
    },
    { resyncMs, batch: BACKLOGS_PER_QUERY, log },
  )
  const listening = await Promise.all([
    sql.listen(STATUS_CHANNEL, states.notify, states.notifyAll),
    sql.listen(EVENTS_CHANNEL, backlogs.notify, backlogs.notifyAll),
  ])
  const find = createBatches<Search>((searches) => findSessions(sql, searches), { batch: SEARCHES_PER_QUERY, log })
  const share = createSharing()
  let openStreams = 0
  return {
    /**
     * Reads the facts of the session of a stream; null when there is none. Searches at the same time share a query, so
     * that readers who all come back at once leave connections to others.
     */
    async find(uuid: string): Promise<SessionFacts | null> {
      const search: Search = { uuid: uuid.toLowerCase(), found: null }
      await find(search)
      return search.found
    },
    /** Returns the state of a session and calls `onChange` with each later one. Throws 404 for an unknown session. */
    async watch(uuid: string, onChange: (state: SessionState) => void) {
      // The first state is returned by this call, so there are no callbacks before it.
      let isReady = false
      const { topic, close } = states.add(
        uuid,
        () => ({ key: uuid, listeners: new Set(), state: null }),
        () => isReady && topic.state && onChange(topic.state),
      )
      let isOpen = true
      openStreams++
      const leave = () => {
        if (isOpen) openStreams--
        isOpen = false
        close()
      }
      try {
        await states.read(topic)
        if (topic.state === null) throw sessionNotFound(uuid)
      } catch (error) {
        leave()
        throw error
      }
      isReady = true
      return { state: topic.state, close: leave }
    },
    /** Finds the start of an event stream; null when the session has no round of this number. */
    start: (session: SessionKey, channel: EventChannel, round: number | null) =>
      readBeginning(sql, session.id, channel, round),
    /** Follows the events of a session after `head`; `onNews` is called when the backlog has more of them. */
    follow(session: SessionKey, channel: EventChannel, head: number, onNews: () => void) {
      const key = `${channel}:${session.uuid}`
      const { topic, isNew, close } = backlogs.add(key, () => createBacklog(key, session.id, channel, head), onNews)
      // Notifications between the reading of `head` and now were missed.
      if (isNew) backlogs.notify(key)
      return { backlog: topic, close }
    },
    /**
     * Reads at most one page of events that a backlog no longer has. Streams at the same position share a query.
     * @param isLast true if the query must start now, because the events have just become complete
     */
    page: (request: PageRequest, isLast: boolean) =>
      share(JSON.stringify([request, isLast]), async () => (await readPages(sql, [request]))[0]?.frames ?? []),
    /** Reads the final status of a round; null while it runs. */
    roundEnd: (sessionId: number, round: number) => readRoundEnd(sql, sessionId, round),
    /** Ends every stream, so that its client reconnects to another process. */
    async close() {
      closing.abort()
      states.close()
      backlogs.close()
      for (const { unlisten } of listening)
        await unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
    },
    closing: closing.signal,
    get openStreams() {
      return openStreams
    },
  }
}

interface Search {
  uuid: string
  found: SessionFacts | null
}

async function findSessions(sql: Sql, searches: readonly Search[]): Promise<void> {
  const uuids = searches.map(({ uuid }) => uuid)
  const facts = await readAllFacts(sql, sql`s.uuid = ANY(${uuids}::uuid[])`)
  const found = new Map(facts.map((session) => [session.uuid, session]))
  for (const search of searches) search.found = found.get(search.uuid) ?? null
}

interface StateTopic extends Topic {
  /** The state that the listeners know; null before the first query and for an unknown session. */
  state: SessionState | null
}

/** Reads the current states of sessions in one query, and calls the listeners of those that changed. */
async function readStates(sql: Sql, topics: readonly StateTopic[]): Promise<void> {
  const rows = await sql<(SessionState & { uuid: string })[]>`
    SELECT uuid, last_status AS status, last_message AS message, in_flight
    FROM sessions WHERE uuid = ANY(${topics.map(({ key }) => key)}::uuid[])`
  const states = new Map(rows.map(({ uuid, ...state }) => [uuid, state]))
  for (const topic of topics) {
    const state = states.get(topic.key)
    if (!state || isSameState(topic.state, state)) continue
    topic.state = state
    for (const listener of [...topic.listeners]) listener()
  }
}

const isSameState = (a: SessionState | null, b: SessionState) =>
  a !== null && a.status === b.status && a.message === b.message && a.in_flight === b.in_flight

/** Reads a page of new events for each backlog in one query; returns the backlogs that have more. */
async function readNews(sql: Sql, backlogs: readonly Backlog[]): Promise<Backlog[]> {
  const requests = backlogs.map(({ sessionId, channel, head }) => ({ sessionId, channel, after: head, round: null }))
  const pages = await readPages(sql, requests)
  for (const [index, backlog] of backlogs.entries()) backlog.add(pages[index]?.frames ?? [])
  return backlogs.filter((_, index) => pages[index]?.isFull)
}

/** Merges concurrent calls with the same key into one. */
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
