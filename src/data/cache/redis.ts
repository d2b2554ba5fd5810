import { createClient, createCluster, ErrorReply } from 'redis'
import type { RedisConfig } from '../../../config/types.ts'
import { withTimeLimit } from '../../base/time.ts'
import type { CacheAddress, CacheServer } from './address.ts'
import { CacheRefusal, type CacheStore, createSlots, isRefusal, tryOut } from './store.ts'

/** What the store needs of a client of one server and of one of a cluster. */
interface Commands {
  get(key: string): Promise<string | null>
  set(key: string, value: string, options: { expiration: { type: 'EX'; value: number } }): Promise<unknown>
  del(keys: string[]): Promise<number>
  ping(): Promise<unknown>
}
type Client = ReturnType<typeof createOneClient>
interface Connection {
  commands: Commands
  discard(): void
  /** Called when the connection has ended, so that the next command need not find out. */
  onEnd(forget: () => void): void
}

/** Replies of a server that is part of a cluster. */
const OF_CLUSTER = /^(MOVED|ASK|CROSSSLOT)\b/

/**
 * Creates the store for the Redis protocol (see `upstash.ts` for the other one): one server, a cluster, or the primary
 * that sentinels name. All commands share one connection per server, at most `max_connections` of them concurrently.
 * The first command opens it. After a failure or timeout only `ping` reconnects, so that readers never wait for a
 * connection to a server that may be down. A new connection asks anew who the primary is.
 */
export function createRedisStore(config: RedisConfig, address: CacheAddress): CacheStore {
  const { run: inSlot } = createSlots(config)
  const commandMs = config.socket_timeout * 1000
  let current: Promise<Connection> | null = null
  let wasConnected = false
  let closed = false
  let isCluster = false

  const startConnection = () => {
    const attempt = connect(config, address, isCluster)
    current = attempt
    const forget = () => {
      if (current === attempt) current = null
    }
    attempt.then((connection) => {
      wasConnected = true
      connection.onEnd(forget)
    }, forget)
    return attempt
  }
  const getConnection = (reconnect: boolean) => {
    if (closed) throw new Error('the cache is closed')
    if (current) return current
    if (wasConnected && !reconnect) throw new Error('the connection to the cache was lost')
    return startConnection()
  }
  const run = <T>(work: (commands: Commands) => Promise<T>, { reconnect = false } = {}) =>
    inSlot(async () => {
      const attempt = getConnection(reconnect)
      const connection = await attempt
      try {
        return await limitTime(commandMs, 'a cache command', work(connection.commands))
      } catch (error) {
        if (error instanceof ErrorReply && isRefusal(error.message)) throw new CacheRefusal(error.message)
        if (error instanceof ErrorReply && OF_CLUSTER.test(error.message)) isCluster = true
        if (current === attempt) current = null
        connection.discard()
        throw error
      }
    })

  const store: CacheStore = {
    get: (key) => run((commands) => commands.get(key)),
    set: async (key, value, ttlSeconds) => {
      await run((commands) => commands.set(key, value, { expiration: { type: 'EX', value: ttlSeconds } }))
    },
    delete: async (keys) => {
      await run((commands) => commands.del(keys))
    },
    ping: async () => {
      // In a cluster every primary is asked.
      await run((commands) => commands.ping(), { reconnect: true })
      await tryOut(store)
    },
    close: async () => {
      closed = true
      // Pending commands are aborted: callers that need a result await it before they close the cache.
      const closing = current
      current = null
      closing?.then(
        (connection) => connection.discard(),
        () => {},
      )
    },
  }
  return store
}

/** Connects to what the address leads to: one server, the primary that sentinels name, or a cluster. */
async function connect(config: RedisConfig, address: CacheAddress, isCluster: boolean): Promise<Connection> {
  const { sentinel, hosts } = address
  const servers = sentinel ? [await findPrimary(config, address, sentinel)] : hosts
  const mustBePrimary = sentinel !== undefined || servers.length > 1
  const open = async (server: CacheServer) => {
    const client = await openClient(config, address, server)
    try {
      const { mode, role } = await askMode(config, client)
      if (mode === 'sentinel')
        throw new Error('the cache URL leads to a sentinel: write redis-sentinel://<host>:<port>/<name of the primary>')
      if (mode === 'standalone' && role === 'replica' && mustBePrimary) throw new Error('the server is a replica')
      return { client, mode }
    } catch (error) {
      discard(client)
      throw error
    }
  }
  const { client, mode } = await firstOf(servers, open, (late) => discard(late.client))
  if (mode === 'cluster' || isCluster) {
    discard(client)
    return openCluster(config, address)
  }
  const onEnd = (forget: () => void) => void client.on('terminated', forget)
  return { commands: client, discard: () => discard(client), onEnd }
}

/**
 * Asks all sentinels at once for the address of the primary; the first that knows it is believed. The library's own
 * client for sentinels reconnects by rules of its own and keeps the reasons of failures to itself.
 */
function findPrimary(
  config: RedisConfig,
  address: CacheAddress,
  { primary, username, password }: NonNullable<CacheAddress['sentinel']>,
): Promise<CacheServer> {
  const ask = async (server: CacheServer) => {
    const client = await openClient(config, { ...address, username, password, database: 0 }, server)
    try {
      const question = client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', primary])
      const answer = await limitTime(config.socket_timeout * 1000, 'the answer of a sentinel', question)
      const [host, port] = Array.isArray(answer) ? answer.map(String) : []
      if (host === undefined) throw new Error(`the sentinels of the cache watch no primary with the name ${primary}`)
      return { host, port: Number(port) }
    } finally {
      discard(client)
    }
  }
  return firstOf(address.hosts, ask)
}

/** Does the work for all servers at once. Returns the first result and closes later ones. Throws the first error. */
async function firstOf<T>(
  servers: CacheServer[],
  work: (server: CacheServer) => Promise<T>,
  close: (late: T) => void = () => {},
): Promise<T> {
  const attempts = servers.map(work)
  try {
    const first = await Promise.any(attempts)
    for (const attempt of attempts)
      attempt.then(
        (result) => result !== first && close(result),
        () => {},
      )
    return first
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  }
}

/** Reads how the server runs from its answer to `HELLO`, which proxies and servers before version 6 do not know. */
async function askMode(config: RedisConfig, client: Client): Promise<{ mode: string; role?: string }> {
  const standalone = { mode: 'standalone' }
  const hello = client.sendCommand(['HELLO']).catch((error: unknown) => {
    if (error instanceof ErrorReply) return null
    throw error
  })
  const answer = await limitTime(config.socket_timeout * 1000, 'the greeting of the cache', hello)
  if (!Array.isArray(answer)) return standalone
  const fields = answer.map(String)
  const field = (name: string) => fields[fields.indexOf(name) + 1]
  return { mode: field('mode') ?? standalone.mode, role: field('role') }
}

const clientOptions = (config: RedisConfig, { username, password, tls }: CacheAddress) => {
  const socket = { connectTimeout: config.socket_connect_timeout * 1000, reconnectStrategy: false as const }
  return {
    RESP: 2 as const,
    disableOfflineQueue: true,
    username,
    password,
    socket: tls ? { ...socket, tls: true as const } : socket,
  }
}

const createOneClient = (config: RedisConfig, address: CacheAddress, server: CacheServer) => {
  const options = clientOptions(config, address)
  return createClient({ ...options, database: address.database, socket: { ...options.socket, ...server } })
}

/** Opens a connection within `socket_connect_timeout` and waits for the first answer within `socket_timeout`. */
async function openClient(config: RedisConfig, address: CacheAddress, server: CacheServer) {
  const client = createOneClient(config, address, server)
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

/** Asks one node for the others. The client connects to a node on first use and follows slots that move. */
async function openCluster(config: RedisConfig, address: CacheAddress): Promise<Connection> {
  const { RESP, ...defaults } = clientOptions(config, address)
  const cluster = createCluster({
    RESP,
    rootNodes: address.hosts.map((socket) => ({ socket })),
    defaults,
    minimizeConnections: true,
    topologyRefreshOnReconnectionAttemptStrategy: false,
  })
  let reason: unknown
  cluster.on('error', (error) => {
    reason = error
  })
  const destroy = () => {
    if (cluster.isOpen) cluster.destroy()
  }
  try {
    const ms = (config.socket_connect_timeout + config.socket_timeout) * 1000
    await limitTime(ms, 'asking the cache for the nodes of its cluster', cluster.connect())
  } catch (error) {
    destroy()
    throw reason ?? error
  }
  return { commands: cluster, discard: destroy, onEnd: () => {} }
}

function discard(client: Client): void {
  if (client.isOpen) client.destroy()
}

const limitTime = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  withTimeLimit(ms, work, () => new Error(`${what} took longer than ${ms / 1000} s`))
