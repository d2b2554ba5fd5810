import { createClient, ErrorReply } from 'redis'
import type { RedisConfig } from '../../../config/types.ts'
import { withTimeLimit } from '../../base/time.ts'
import { CacheRefusal, type CacheStore, createSlots } from './store.ts'

const createRedisClient = (config: RedisConfig) =>
  createClient({
    url: config.url,
    RESP: 2,
    disableOfflineQueue: true,
    socket: { connectTimeout: config.socket_connect_timeout * 1000, reconnectStrategy: false },
  })
type Client = ReturnType<typeof createRedisClient>

/** Error replies about the server's state, not the command: a new connection may reach a healthy server. */
const SERVER_FAULT = /^(LOADING|MASTERDOWN|NOAUTH|READONLY)\b/

/**
 * Creates the store for the Redis protocol (see `upstash.ts` for the other one). All commands share one connection, at
 * most `max_connections` of them concurrently. The first command opens it. After a failure or timeout only `ping`
 * reconnects, so that readers never wait for a connection to a server that may be down.
 */
export function createRedisStore(config: RedisConfig): CacheStore {
  const { run: inSlot } = createSlots(config)
  const commandMs = config.socket_timeout * 1000
  let current: Promise<Client> | null = null
  let wasConnected = false
  let closed = false

  const startConnection = () => {
    const attempt = connect(config)
    current = attempt
    const forget = () => {
      if (current === attempt) current = null
    }
    attempt.then((client) => {
      wasConnected = true
      client.on('terminated', forget)
    }, forget)
    return attempt
  }
  const getConnection = (reconnect: boolean) => {
    if (closed) throw new Error('the cache is closed')
    if (current) return current
    if (wasConnected && !reconnect) throw new Error('the connection to the cache was lost')
    return startConnection()
  }
  const run = <T>(command: (client: Client) => Promise<T>, { reconnect = false } = {}) =>
    inSlot(async () => {
      const attempt = getConnection(reconnect)
      const client = await attempt
      try {
        return await limitTime(commandMs, 'a cache command', command(client))
      } catch (error) {
        if (error instanceof ErrorReply && !SERVER_FAULT.test(error.message)) throw new CacheRefusal(error.message)
        if (current === attempt) current = null
        discard(client)
        throw error
      }
    })

  return {
    get: (key) => run((client) => client.get(key)),
    set: async (key, value, ttlSeconds) => {
      await run((client) => client.set(key, value, { expiration: { type: 'EX', value: ttlSeconds } }))
    },
    delete: async (keys) => {
      await run((client) => client.del(keys))
    },
    ping: async () => {
      await run((client) => client.ping(), { reconnect: true })
    },
    close: async () => {
      closed = true
      // Pending commands are aborted: callers that need a result await it before they close the cache.
      const closing = current
      current = null
      closing?.then(discard, () => {})
    },
  }
}

/** Opens a connection within `socket_connect_timeout` and waits for the first answer within `socket_timeout`. */
async function connect(config: RedisConfig): Promise<Client> {
  const client = createRedisClient(config)
  // Node ends the process on an `error` event without a listener.
  client.on('error', () => {})
  const connected = new Promise<void>((resolve) => client.once('connect', () => resolve()))
  const ready = client.connect()
  ready.catch(() => {})
  try {
    await limitTime(config.socket_connect_timeout * 1000, 'connecting to the cache', Promise.race([connected, ready]))
    await limitTime(config.socket_timeout * 1000, 'the greeting of the cache', ready)
    return client
  } catch (error) {
    discard(client)
    throw error
  }
}

function discard(client: Client): void {
  if (client.isOpen) client.destroy()
}

const limitTime = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  withTimeLimit(ms, work, () => new Error(`${what} took longer than ${ms / 1000} s`))
