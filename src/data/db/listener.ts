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

type Handlers = Map<string, Set<Handler>>
type OpenConnection = (
  onNotification: (channel: string, payload: string) => void,
  onLost: () => void,
) => Promise<ListeningConnection>

/**
 * Keeps all subscriptions of a pool on one connection, which is opened for the first subscription and again after each
 * loss.
 * @param open opens the connection; it calls back for each notification and once when the connection is lost
 */
export function createListener(open: OpenConnection) {
  const handlers: Handlers = new Map()
  let connection: Promise<ListeningConnection> | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const ensureConnection = (): Promise<ListeningConnection> => {
    if (connection) return connection
    const forget = () => {
      const isCurrent = connection === attempt
      if (isCurrent) connection = null
      return isCurrent
    }
    const attempt = openForAll(open, handlers, () => forget() && reopen(0))
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
          for (const set of handlers.values()) for (const handler of set) handler.onListening?.()
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
    close: async () => {
      handlers.clear()
      closed = true
      clearTimeout(timer)
      const openConnection = await connection?.catch(() => null)
      await openConnection?.close()
    },
  }
}

/** Opens a connection that listens to all channels, and closes it if listening to one fails. */
async function openForAll(open: OpenConnection, handlers: Handlers, onLost: () => void): Promise<ListeningConnection> {
  const opened = await open((channel, payload) => {
    for (const handler of handlers.get(channel) ?? []) handler.onNotification(payload)
  }, onLost)
  try {
    for (const channel of handlers.keys()) await opened.listen(channel)
    return opened
  } catch (error) {
    await opened.close().catch(() => {})
    throw error
  }
}

/** Removes a handler. Returns true if it was the last one of its channel. */
function remove(handlers: Handlers, channel: string, handler: Handler): boolean {
  const set = handlers.get(channel)
  if (!set?.delete(handler) || set.size > 0) return false
  handlers.delete(channel)
  return true
}
