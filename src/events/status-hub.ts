import { sessionNotFound } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Status } from '../base/vocabulary.ts'
import type { Db, Sql } from '../data/db/types.ts'
import { STATUS_CHANNEL } from '../rounds/transitions.ts'

export interface SessionState {
  status: Status
  message: string | null
  in_flight: boolean
}

/**
 * Tells streams of changes of their sessions, over one LISTEN connection for the whole process. A notification can
 * get lost while that connection is broken; therefore one query reads the states of all watched sessions every five
 * seconds.
 */
export interface StatusHub {
  /**
   * Answers the current state of a session and calls `onChange` with each later one.
   * Errors: 404 unknown session; the database cannot be reached.
   */
  watch(
    sessionUuid: string,
    onChange: (state: SessionState) => void,
  ): Promise<{ state: SessionState; close: () => void }>
  /** Ends every stream, so that its client connects again, to another process. */
  close(): Promise<void>
  readonly closing: AbortSignal
  readonly openStreams: number
}

const RESYNC_MS = 5_000

/**
 * Opens the LISTEN connection of this process. The database client opens it again when it is lost, and all watched
 * sessions are read anew then.
 * Errors: the database cannot be reached.
 */
export async function startStatusHub(sql: Sql, log: Logger, options: { resyncMs?: number } = {}): Promise<StatusHub> {
  const closing = new AbortController()
  const refresh = createBatchedReader(
    (uuids) => readStates(sql, uuids),
    (uuids, states) => {
      for (const uuid of uuids) notifyListeners(watched.find(uuid), states.get(uuid))
    },
  )
  const refreshQuietly = (uuids: Iterable<string>) => {
    refresh(uuids).catch((error) => log.warn('session states could not be read', { error }))
  }
  const watched = createWatchList(refreshQuietly, options.resyncMs ?? RESYNC_MS)
  const subscription = await sql.listen(
    STATUS_CHANNEL,
    (uuid) => {
      if (watched.find(uuid)) refreshQuietly([uuid])
    },
    () => {
      if (!watched.isEmpty()) refreshQuietly(watched.uuids())
    },
  )

  return {
    async watch(uuid, onChange) {
      // The first state is the answer of this call: before it there are no calls back.
      let ready = false
      const { entry, remove } = watched.add(uuid, (state) => {
        if (ready) onChange(state)
      })
      try {
        await refresh([uuid])
        if (entry.state === null) throw sessionNotFound(uuid)
      } catch (error) {
        remove()
        throw error
      }
      ready = true
      return { state: entry.state, close: remove }
    },
    async close() {
      closing.abort()
      watched.clear()
      await subscription.unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
    },
    closing: closing.signal,
    get openStreams() {
      return watched.listenerCount()
    },
  }
}

type Listener = (state: SessionState) => void
interface WatchedSession {
  listeners: Set<Listener>
  /** The state that the listeners know; null before it was read for the first time. */
  state: SessionState | null
}

/** The listeners of all watched sessions. While there are any, `onPeriod` is called with their uuids periodically. */
function createWatchList(onPeriod: (uuids: Iterable<string>) => void, periodMs: number) {
  const sessions = new Map<string, WatchedSession>()
  let listenerCount = 0
  let timer: ReturnType<typeof setInterval> | null = null
  const stopTimer = () => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    find: (uuid: string) => sessions.get(uuid),
    uuids: () => sessions.keys(),
    isEmpty: () => sessions.size === 0,
    listenerCount: () => listenerCount,
    add(uuid: string, listener: Listener): { entry: WatchedSession; remove: () => void } {
      const entry = sessions.get(uuid) ?? { listeners: new Set(), state: null }
      sessions.set(uuid, entry)
      entry.listeners.add(listener)
      listenerCount++
      timer ??= setInterval(() => onPeriod(sessions.keys()), periodMs)
      const remove = () => {
        if (!entry.listeners.delete(listener)) return
        listenerCount--
        if (entry.listeners.size === 0) sessions.delete(uuid)
        if (sessions.size === 0) stopTimer()
      }
      return { entry, remove }
    },
    clear() {
      stopTimer()
      sessions.clear()
    },
  }
}

function notifyListeners(entry: WatchedSession | undefined, state: SessionState | undefined): void {
  if (!entry || !state || isSameState(entry.state, state)) return
  entry.state = state
  for (const listener of [...entry.listeners]) listener(state)
}

const isSameState = (a: SessionState | null, b: SessionState) =>
  a !== null && a.status === b.status && a.message === b.message && a.in_flight === b.in_flight

type States = Map<string, SessionState>

/**
 * Reads states in batches, one query at a time: all sessions that are asked for while a query runs are read together
 * by the next query. So an answer is never older than its request, and an older answer never arrives after a newer.
 * @param apply is called with each batch before the promises of its requests resolve
 */
function createBatchedReader(
  read: (uuids: string[]) => Promise<States>,
  apply: (uuids: ReadonlySet<string>, states: States) => void,
): (uuids: Iterable<string>) => Promise<States> {
  let next: { uuids: Set<string>; answer: PromiseWithResolvers<States> } | null = null
  let busy = false

  const drain = async () => {
    if (busy) return
    busy = true
    for (let batch = next; batch !== null; batch = next) {
      next = null
      try {
        const states = await read([...batch.uuids])
        apply(batch.uuids, states)
        batch.answer.resolve(states)
      } catch (error) {
        batch.answer.reject(error)
      }
    }
    busy = false
  }
  return (uuids) => {
    const batch = next ?? { uuids: new Set(), answer: Promise.withResolvers() }
    next = batch
    for (const uuid of uuids) batch.uuids.add(uuid)
    void drain()
    return batch.answer.promise
  }
}

/** Reads the current states in one query, keyed by session uuid; an unknown session has no entry. */
async function readStates(sql: Db, uuids: readonly string[]): Promise<States> {
  const rows = await sql<(SessionState & { uuid: string })[]>`
    SELECT uuid, last_status AS status, last_message AS message, in_flight
    FROM sessions WHERE uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(rows.map(({ uuid, ...state }) => [uuid, state]))
}
