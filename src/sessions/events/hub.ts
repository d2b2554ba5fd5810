import { sessionNotFound } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Status } from '../../base/vocabulary.ts'
import type { Db, Sql } from '../../data/db/types.ts'
import { STATUS_CHANNEL } from '../status.ts'

export interface SessionState {
  status: Status
  message: string | null
  in_flight: boolean
}

/**
 * One LISTEN connection per process, shared by all streams. `watch` answers the current state and
 * then calls back on each change; a lost notification is mended by one query for all watched
 * sessions every five seconds.
 */
export interface StatusHub {
  watch(
    sessionUuid: string,
    onChange: (state: SessionState) => void,
  ): Promise<{ state: SessionState; close: () => void }>
  /** Ends every stream, so that clients reconnect elsewhere. */
  close(): Promise<void>
  readonly closing: AbortSignal
  readonly openStreams: number
}

const RESYNC_MS = 5_000

type Listener = (state: SessionState) => void
interface Watched {
  listeners: Set<Listener>
  state: SessionState | null
}

/**
 * Opens the one LISTEN connection of this process; it is opened again by itself when it is lost, and
 * everything watched is read anew then.
 * Errors: the database cannot be reached.
 */
export async function startStatusHub(sql: Sql, log: Logger, options: { resyncMs?: number } = {}): Promise<StatusHub> {
  const watched = new Map<string, Watched>()
  const closing = new AbortController()
  let openStreams = 0
  let timer: ReturnType<typeof setInterval> | null = null

  const refresh = createBatchedReader(
    (uuids) => readStates(sql, uuids),
    (asked, states) => {
      for (const uuid of asked) tell(watched.get(uuid), states.get(uuid))
    },
  )
  const refreshQuietly = (uuids: Iterable<string>) => {
    refresh(uuids).catch((error) => log.warn('session states could not be read', { error }))
  }
  const resync = () => refreshQuietly(watched.keys())
  const subscription = await sql.listen(
    STATUS_CHANNEL,
    (uuid) => {
      if (watched.has(uuid)) refreshQuietly([uuid])
    },
    () => {
      if (watched.size > 0) resync()
    },
  )

  const remove = (uuid: string, entry: Watched, listener: Listener) => {
    if (!entry.listeners.delete(listener)) return
    openStreams--
    if (entry.listeners.size === 0) watched.delete(uuid)
    if (watched.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    async watch(uuid, onChange) {
      const entry = watched.get(uuid) ?? { listeners: new Set(), state: null }
      watched.set(uuid, entry)
      // Silent until the caller has its first state.
      let ready = false
      const listener: Listener = (state) => {
        if (ready) onChange(state)
      }
      entry.listeners.add(listener)
      openStreams++
      timer ??= setInterval(resync, options.resyncMs ?? RESYNC_MS)
      try {
        await refresh([uuid])
        if (entry.state === null) throw sessionNotFound(uuid)
      } catch (error) {
        remove(uuid, entry, listener)
        throw error
      }
      ready = true
      return { state: entry.state, close: () => remove(uuid, entry, listener) }
    },
    async close() {
      closing.abort()
      if (timer !== null) clearInterval(timer)
      timer = null
      watched.clear()
      await subscription.unlisten().catch((error: unknown) => log.debug('unlisten failed', { error }))
    },
    closing: closing.signal,
    get openStreams() {
      return openStreams
    },
  }
}

function tell(entry: Watched | undefined, state: SessionState | undefined): void {
  if (!entry || !state || isSame(entry.state, state)) return
  entry.state = state
  for (const listener of [...entry.listeners]) listener(state)
}

const isSame = (a: SessionState | null, b: SessionState) =>
  a !== null && a.status === b.status && a.message === b.message && a.in_flight === b.in_flight

type States = Map<string, SessionState>

/**
 * Reads states in batches, one query at a time: whatever is asked for while a query runs is answered
 * together by the next one. So every answer is at least as new as its question, and answers never
 * overtake each other.
 * @param apply called with each batch before its askers are
 */
function createBatchedReader(
  read: (uuids: string[]) => Promise<States>,
  apply: (asked: ReadonlySet<string>, states: States) => void,
): (uuids: Iterable<string>) => Promise<States> {
  let next: { asked: Set<string>; answer: PromiseWithResolvers<States> } | null = null
  let busy = false

  const drain = async () => {
    if (busy) return
    busy = true
    for (let batch = next; batch !== null; batch = next) {
      next = null
      try {
        const states = await read([...batch.asked])
        apply(batch.asked, states)
        batch.answer.resolve(states)
      } catch (error) {
        batch.answer.reject(error)
      }
    }
    busy = false
  }
  return (uuids) => {
    const batch = next ?? { asked: new Set(), answer: Promise.withResolvers() }
    next = batch
    for (const uuid of uuids) batch.asked.add(uuid)
    void drain()
    return batch.answer.promise
  }
}

/** Current states by session uuid, in one query; unknown sessions are missing from the answer. */
async function readStates(sql: Db, uuids: readonly string[]): Promise<Map<string, SessionState>> {
  const rows = await sql<(SessionState & { uuid: string })[]>`
    SELECT uuid, last_status AS status, last_message AS message, in_flight
    FROM sessions WHERE uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(rows.map(({ uuid, ...state }) => [uuid, state]))
}
