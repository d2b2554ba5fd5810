import { createClient } from 'redis'
import type { RedisConfig } from '../../config/types.ts'
import { createSlots } from '../cache/slots.ts'
import type { CacheStore } from '../cache/store.ts'
import { timeLimit } from '../cache/time-limit.ts'

const open = (config: RedisConfig) =>
  createClient({
    url: config.url,
    RESP: 2,
    disableOfflineQueue: true,
    socket: { connectTimeout: config.socket_connect_timeout * 1000, reconnectStrategy: false },
  })
type Client = ReturnType<typeof open>

/**
 * The cache over its own protocol: one multiplexed connection with at most `max_connections` commands
 * under way. A connection that failed or went silent is dropped; the next command opens another.
 */
export function createRedisStore(config: RedisConfig): CacheStore {
  const inSlot = createSlots(config.max_connections, config.pool_timeout * 1000)
  const command_ms = config.socket_timeout * 1000
  const connect_ms = config.socket_connect_timeout * 1000 + command_ms
  let current: Promise<Client> | null = null

  const connect = async (): Promise<Client> => {
    const client = open(config)
    // Without a listener an error of the connection would end the process.
    client.on('error', () => {})
    try {
      await timeLimit(connect_ms, 'connecting to the cache', client.connect())
      return client
    } catch (error) {
      discard(client)
      throw error
    }
  }
  const start = () => {
    const attempt = connect()
    current = attempt
    const forget = () => {
      if (current === attempt) current = null
    }
    attempt.then((client) => client.on('end', forget), forget)
    return attempt
  }
  const run = <T>(command: (client: Client) => Promise<T>) =>
    inSlot(async () => {
      const attempt = current ?? start()
      try {
        const client = await attempt
        return await timeLimit(command_ms, 'a cache command', command(client))
      } catch (error) {
        if (current === attempt) current = null
        attempt.then(discard, () => {})
        throw error
      }
    })

  return {
    get: (key) => run((client) => client.get(key)),
    set: async (key, value, ttl_seconds) => {
      await run((client) => client.set(key, value, { expiration: { type: 'EX', value: ttl_seconds } }))
    },
    delete: async (keys) => {
      await run((client) => client.del(keys))
    },
    ping: async () => {
      await run((client) => client.ping())
    },
    close: async () => {
      const closing = current
      current = null
      if (closing) await closing.then((client) => client.close())
    },
  }
}

function discard(client: Client): void {
  if (client.isOpen) client.destroy()
}
