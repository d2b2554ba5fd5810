import { createClient, ErrorReply } from 'redis'
import type { RedisConfig } from '../../../config/types.ts'
import { createSlots, timeLimit } from './limits.ts'
import { CacheRefusal, type CacheStore } from './types.ts'

const createRedisClient = (config: RedisConfig) =>
  createClient({
    url: config.url,
    RESP: 2,
    disableOfflineQueue: true,
    socket: { connectTimeout: config.socket_connect_timeout * 1000, reconnectStrategy: false },
  })
type Client = ReturnType<typeof createRedisClient>

/** Answers that speak of the server and not of the command: another connection may get a better one. */
const SERVER_FAULT = /^(LOADING|MASTERDOWN|NOAUTH|READONLY)\b/

/**
 * The cache over its own protocol: one multiplexed connection with at most `max_connections` commands
 * under way. The first command connects; a connection that was lost, failed or went silent is dropped,
 * and only `ping` opens another, so that nobody waits for one who just wants to read.
 */
export function createRedisStore(config: RedisConfig): CacheStore {
  const inSlot = createSlots(config.max_connections, config.pool_timeout * 1000)
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
        return await timeLimit(commandMs, 'a cache command', command(client))
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
      // Whoever needs an answer has waited for it: nothing under way is worth a delay.
      const closing = current
      current = null
      closing?.then(discard, () => {})
    },
  }
}

/** The connection within `socket_connect_timeout`, then the greeting within `socket_timeout`. */
async function connect(config: RedisConfig): Promise<Client> {
  const client = createRedisClient(config)
  // Without a listener an error of the connection would end the process.
  client.on('error', () => {})
  const connected = new Promise<void>((resolve) => client.once('connect', () => resolve()))
  const ready = client.connect()
  ready.catch(() => {})
  try {
    await timeLimit(config.socket_connect_timeout * 1000, 'connecting to the cache', Promise.race([connected, ready]))
    await timeLimit(config.socket_timeout * 1000, 'the greeting of the cache', ready)
    return client
  } catch (error) {
    discard(client)
    throw error
  }
}

function discard(client: Client): void {
  if (client.isOpen) client.destroy()
}
