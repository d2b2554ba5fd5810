import { sessionNotFound } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Sql } from '../data/db/types.ts'
import { STATUS_CHANNEL } from '../sessions/status-channel.ts'
import { createBatchedReader } from './batched-reader.ts'
import { readStates } from './read-states.ts'
import type { SessionState, StatusHub } from './types.ts'

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
export async function startStatusHub(sql: Sql, log: Logger, options: { resync_ms?: number } = {}): Promise<StatusHub> {
  const watched = new Map<string, Watched>()
  const closing = new AbortController()
  let open_streams = 0
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
    open_streams--
    if (entry.listeners.size === 0) watched.delete(uuid)
    if (watched.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }

  return {
    async watch(uuid, on_change) {
      const entry = watched.get(uuid) ?? { listeners: new Set(), state: null }
      watched.set(uuid, entry)
      // Silent until the caller has its first state.
      let ready = false
      const listener: Listener = (state) => {
        if (ready) on_change(state)
      }
      entry.listeners.add(listener)
      open_streams++
      timer ??= setInterval(resync, options.resync_ms ?? RESYNC_MS)
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
    get open_streams() {
      return open_streams
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
