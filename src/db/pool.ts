import pg, { type ClientConfig, type Notice, type Pool, type PoolClient, type QueryResult, type TypeParsers } from 'pg'
import { createListener } from './listener.ts'
import { createTag, type Execute } from './query.ts'
import { type Connection, runTransaction } from './transaction.ts'
import type { Result, Sql, Transaction } from './types.ts'

export interface PoolOptions {
  max: number
  /** Try encryption, go on without it when the server has none. */
  prefer_ssl: boolean
  /** Told of each statement, before it runs. */
  onstatement?: (text: string) => void
  onnotice: (notice: Notice) => void
  /** How texts of the server become values, by type. */
  types: TypeParsers
}

/** How long a statement waits for a connection. */
const WAIT_MS = 30_000
const IDLE_MS = 5 * 60_000
const LIFETIME_S = 60 * 60

/** Our interface over the driver's pool. Connections that broke are thrown away, never used again. */
export function createPool(config: ClientConfig, options: PoolOptions): Sql {
  const settled = settle(config, options.prefer_ssl)
  const pool = once(async () => openPool(await settled(), options))
  const take = async (): Promise<Connection> => {
    const client = await (await pool()).connect()
    return { execute: executeOn(client, options), give_back: ({ lost }) => client.release(lost) }
  }
  const execute: Execute = async (statement, how) => {
    const connection = await take()
    try {
      const result = await connection.execute(statement, how)
      connection.give_back({ lost: false })
      return result
    } catch (error) {
      // A text that began a transaction may have left it open.
      connection.give_back({ lost: /\bbegin\b/i.test(statement.text) || isConnectionLost(error) })
      throw error
    }
  }
  const begin = async <T>(...args: [(tx: Transaction) => Promise<T>] | [string, (tx: Transaction) => Promise<T>]): Promise<T> => {
    const [mode, work] = args.length === 1 ? ['', args[0]] : args
    return runTransaction(await take(), mode, work)
  }
  const listener = createListener(async (...callbacks) => openListening(await settled(), ...callbacks))
  const tag = createTag(execute)
  let ended: Promise<void> | null = null
  return Object.assign(tag, {
    begin,
    listen: (channel: string, on_notification: (payload: string) => void, on_listening?: () => void) =>
      listener.add(channel, { on_notification, on_listening }),
    notify: (channel: string, payload: string) => tag`SELECT pg_notify(${channel}, ${payload})`,
    end: ({ timeout }: { timeout?: number } = {}) => {
      ended ??= within(timeout, Promise.all([pool.current()?.then((opened) => opened.end()), listener.close()]))
      return ended
    },
  })
}

function openPool(config: ClientConfig, options: PoolOptions): Pool {
  const pool = new pg.Pool({
    ...config,
    max: options.max,
    connectionTimeoutMillis: WAIT_MS,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_S,
  })
  // The statement that was running rejects; without a listener the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}).on('notice', options.onnotice))
  return pool
}

/** Whether to encrypt is found out with the first connection and kept. */
function settle(config: ClientConfig, prefer_ssl: boolean): () => Promise<ClientConfig> {
  return once(async () => {
    if (!prefer_ssl) return config
    const encrypted = { ...config, ssl: { rejectUnauthorized: false } }
    const probe = new pg.Client({ ...encrypted, connectionTimeoutMillis: WAIT_MS })
    probe.on('error', () => {})
    try {
      await probe.connect()
      await probe.end()
      return encrypted
    } catch (error) {
      if (error instanceof Error && error.message === 'The server does not support SSL connections') return config
      throw error
    }
  })
}

/** Runs `work` for the first caller and keeps its result, but no failure. */
function once<T>(work: () => Promise<T>): (() => Promise<T>) & { current: () => Promise<T> | null } {
  let kept: Promise<T> | null = null
  const call = () => {
    kept ??= work().catch((error) => {
      kept = null
      throw error
    })
    return kept
  }
  return Object.assign(call, { current: () => kept })
}

function executeOn(client: PoolClient, options: PoolOptions): Execute {
  return async ({ text, values }, how) => {
    options.onstatement?.(text)
    const parsers = how?.types === 'driver' ? pg.types : options.types
    // An empty list of values lets several statements share one text.
    const answer = await client.query({ text, values: values.length > 0 ? [...values] : undefined, types: parsers })
    return toResult(Array.isArray(answer) ? answer : [answer])
  }
}

/** The rows stay a plain list to look at; what else is known is beside them. */
function toResult(results: readonly QueryResult[]): Result {
  const rows = results.flatMap((result) => result.rows)
  const last = results.at(-1)
  return Object.defineProperties(rows, { count: { value: last?.rowCount ?? 0 }, command: { value: last?.command ?? '' } }) as Result
}

/** Whether the server closed, or is about to close, the connection on which this happened. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  // Answers of the server to a statement carry a severity; what comes from the connection does not.
  return !('severity' in error) || error.severity !== 'ERROR'
}

async function openListening(config: ClientConfig, on_notification: (channel: string, payload: string) => void, on_lost: () => void) {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: WAIT_MS })
  let connected = false
  client.on('error', () => {})
  client.on('end', () => connected && on_lost())
  client.on('notification', ({ channel, payload }) => on_notification(channel, payload ?? ''))
  await client.connect()
  connected = true
  let last: Promise<unknown> = Promise.resolve()
  const run = (command: 'LISTEN' | 'UNLISTEN', channel: string) => {
    const next = last.then(() => client.query({ text: `${command} "${channel.replaceAll('"', '""')}"` }))
    last = next.catch(() => {})
    return next
  }
  return {
    listen: (channel: string) => run('LISTEN', channel),
    unlisten: (channel: string) => run('UNLISTEN', channel),
    close: () => {
      connected = false
      return client.end()
    },
  }
}

async function within(seconds: number | undefined, work: Promise<unknown>): Promise<void> {
  if (seconds === undefined) return void (await work)
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1000)
  })
  await Promise.race([work, limit])
  clearTimeout(timer)
}
