import { endsWithin } from '../../base/time.ts'

interface ListeningConnection {
  listen(channel: string): Promise<unknown>
  unlisten(channel: string): Promise<unknown>
  close(): Promise<void>
}
interface Handler {
  onNotification: (payload: string) => void
  onListening?: () => void
}

/** Delays before reconnecting; the last one repeats. */
const PAUSES_MS = [100, 500, 1_000, 2_000, 5_000]

/** Longest wait for the notification to oneself. */
const PROBE_MS = 2_000
/** Time between two calls of `onListening` when no notifications arrive. */
const POLL_MS = 1_000
/** Time after which it is tried again whether they arrive. */
const RETRY_MS = 60_000

type Handlers = Map<string, Set<Handler>>

export interface Surroundings {
  /** Opens the connection. It calls back for each notification and once when the connection is lost. */
  open(onNotification: (channel: string, payload: string) => void, onLost: () => void): Promise<ListeningConnection>
  /** Sends a notification over another connection. */
  notify(channel: string, payload: string): Promise<unknown>
  /** Called when it turns out that notifications do not arrive, and when they do again. */
  onHearing(hears: boolean): void
}

/**
 * Keeps all subscriptions of a pool on one connection, which is opened for the first subscription and again after each
 * loss. Behind a pooler that gives each transaction another session, LISTEN succeeds and nothing arrives. So a
 * notification is sent to it first; where that does not arrive, `onListening` is called every second instead.
 */
export function createListener({ open, notify, onHearing }: Surroundings) {
  const handlers: Handlers = new Map()
  let connection: Promise<ListeningConnection> | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false
  let hears = true
  const setHearing = (next: boolean) => {
    if (next === hears) return
    hears = next
    onHearing(next)
  }

  const ensureConnection = (): Promise<ListeningConnection> => {
    if (connection) return connection
    const forget = () => {
      const isCurrent = connection === attempt
      if (isCurrent) connection = null
      return isCurrent
    }
    const attempt = openForAll({ open, notify, onHearing: setHearing }, handlers, () => forget() && reopen(0))
    attempt.catch(forget)
    connection = attempt
    return attempt
  }
  const reopen = (failures: number) => {
    clearTimeout(timer)
    if (closed || handlers.size === 0) return
    timer = setTimeout(
      async () => {
        try {
          await ensureConnection()
          callAll(handlers)
        } catch {
          reopen(failures + 1)
        }
      },
      PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)],
    )
  }
  return {
    add: async (channel: string, handler: Handler) => {
      handlers.set(channel, (handlers.get(channel) ?? new Set()).add(handler))
      try {
        await (await ensureConnection()).listen(channel)
      } catch (error) {
        remove(handlers, channel, handler)
        throw error
      }
      handler.onListening?.()
      const unlisten = async () => {
        const last = remove(handlers, channel, handler)
        if (last && connection) await (await connection).unlisten(channel)
      }
      return { unlisten }
    },
    /** Opens another connection in place of the present one, which leads to a server without notifications. */
    renew: (): void => {
      const stale = connection
      if (!stale) return
      connection = null
      void stale.then((opened) => opened.close()).catch(() => {})
      reopen(0)
    },
    close: async () => {
      handlers.clear()
      closed = true
      clearTimeout(timer)
      const openConnection = await connection?.catch(() => null)
      await openConnection?.close()
    },
  }
}

const callAll = (handlers: Handlers) => {
  for (const set of handlers.values()) for (const handler of set) handler.onListening?.()
}

/**
 * Opens a connection that listens to all channels, and closes it if listening to one fails. Where it hears nothing, a
 * stand-in calls the handlers, and reports its loss when it is time to try again.
 */
async function openForAll(
  { open, notify, onHearing }: Surroundings,
  handlers: Handlers,
  onLost: () => void,
): Promise<ListeningConnection> {
  const probe = `platform_probe_${crypto.randomUUID()}`
  const heard = Promise.withResolvers<void>()
  let hears = false
  const opened = await open((channel, payload) => {
    if (channel === probe) {
      hears = true
      heard.resolve()
    }
    for (const handler of handlers.get(channel) ?? []) handler.onNotification(payload)
  }, onLost)
  try {
    await opened.listen(probe)
    await notify(probe, '')
    await endsWithin(PROBE_MS, heard.promise)
    // What has arrived in a busy process is read before the answer to this.
    await opened.unlisten(probe)
    onHearing(hears)
    if (!hears) {
      await opened.close().catch(() => {})
      return callRegularly(handlers, onLost)
    }
    for (const channel of handlers.keys()) await opened.listen(channel)
    return opened
  } catch (error) {
    await opened.close().catch(() => {})
    throw error
  }
}

function callRegularly(handlers: Handlers, onLost: () => void): ListeningConnection {
  const polling = setInterval(() => callAll(handlers), POLL_MS)
  const close = () => {
    clearInterval(polling)
    clearTimeout(retry)
  }
  const retry = setTimeout(() => {
    close()
    onLost()
  }, RETRY_MS)
  return { listen: async () => {}, unlisten: async () => {}, close: async () => close() }
}

/** Removes a handler. Returns true if it was the last one of its channel. */
function remove(handlers: Handlers, channel: string, handler: Handler): boolean {
  const set = handlers.get(channel)
  if (!set?.delete(handler) || set.size > 0) return false
  handlers.delete(channel)
  return true
}
