import type postgres from 'postgres'
import { readDatabaseAddress } from '../../../config/database-address.ts'
import { delay } from '../../base/http.ts'
import { endsWithin } from '../../base/time.ts'
import { openConnection, type ServerConnection } from './connection.ts'
import { concernsServer, isUndone, remedyOf } from './faults.ts'
import { createListener } from './listener.ts'
import { type ConnectionCallbacks, createRoute, type ReadFile, type ServerRoute } from './server.ts'
import { createTag, type Execute, type Sql, type Transaction } from './sql.ts'

export interface ConnectOptions {
  /** Maximum number of connections. Default 10. */
  max?: number
  /**
   * URL of the same database without a pooler between, for what needs a session of its own: LISTEN and `beginDirect`.
   * Empty for none.
   */
  directUrl?: string
  onnotice?: (notice: postgres.Notice) => void
  /** Time for which a statement that nothing has come of is tried again. Default 5 s. */
  patienceMs?: number
  /**
   * Time without an answer after which the server is asked over another connection whether it works on a statement.
   * Default 3 s.
   */
  doubtMs?: number
  /** Time between two statements on the connection that listens, which would not notice its death. Default 5 s. */
  beatMs?: number
  /** Called when notifications no longer arrive, and when they do again. */
  onHearing?: (hears: boolean) => void
  /** Reads the files that the URL names. */
  readFile?: ReadFile
  /** Called with the text of each statement before it runs. */
  onstatement?: (text: string) => void
}

/** Longest wait of a statement for a free connection. */
const WAIT_MS = 30_000
/** Below the lease of a round, and below what callers of the API wait. */
const PATIENCE_MS = 5_000
/** The first pause before another try, doubled up to the last. */
const PAUSE_MS = { first: 20, last: 500 }
const DOUBT_MS = 3_000
const BEAT_MS = 5_000
/** Age after which a connection is closed when it is released. */
const LIFETIME_MS = 60 * 60_000

/**
 * Creates a pool, which connects on the first statement. Timestamps are read as texts in the API's form
 * (`toFixedTimestamp`) and 64-bit integers as numbers. A statement whose connection breaks is rejected, and later
 * statements get new connections. Tried again for `patienceMs` is what cannot be carried out twice: to connect, to
 * begin a transaction, a statement that the server has undone, and one that only reads. A transaction that has begun
 * is left to its caller, who alone knows what else it has done. If its COMMIT is not answered, the server is asked
 * whether it took place, and only if not, or if that cannot be found out, the transaction is rejected.
 * @param url as `readDatabaseAddress` reads it. Throws its errors.
 */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const { max = 10, onnotice = () => {}, onstatement, onHearing = () => {}, directUrl = '', readFile } = options
  const { doubtMs = DOUBT_MS, beatMs = BEAT_MS } = options
  const route = createRoute(readDatabaseAddress(url), readFile)
  const directRoute = directUrl === '' ? route : createRoute(readDatabaseAddress(directUrl), readFile)
  const connections = createConnections(
    () => openConnection(route, { onnotice, doubtMs, onDemotion: () => leaveServer() }),
    max,
  )
  const patience = options.patienceMs ?? PATIENCE_MS
  const deadline = () => performance.now() + patience
  const takeOnce = async (): Promise<Connection> => {
    const connection = await connections.take()
    await connection.opened().catch((error: unknown) => {
      connections.giveBack(connection, true)
      throw error
    })
    return {
      execute: async (statement, how) => {
        onstatement?.(statement.text)
        try {
          return await connection.execute(statement, how)
        } catch (error) {
          if (connection.lost && concernsServer(error)) leaveServer()
          throw error
        }
      },
      giveBack: ({ lost }) => connections.giveBack(connection, lost),
    }
  }
  const take = (until: number) => patiently(until, takeOnce, mayPass)
  /** Also the other connections lead to a server that is no primary any more, or does not answer. */
  const leaveServer = () => {
    connections.renew()
    listener.renew()
  }
  const execute: Execute = async (statement, how) => {
    // A text with several statements may have begun a transaction and failed before its end.
    const isScript = /\bbegin\b/i.test(statement.text)
    const isRead = how?.types !== 'driver' && /^\s*SELECT\b/i.test(statement.text)
    const until = deadline()
    const once = async () => {
      const connection = await take(until)
      try {
        const result = await connection.execute(statement, how)
        connection.giveBack({ lost: false })
        return result
      } catch (error) {
        connection.giveBack({ lost: isScript })
        throw error
      }
    }
    return patiently(until, once, (error) => (isRead ? mayPass(error) : !isScript && isUndone(error)))
  }
  const begin = <T>(...args: [Work<T>, isThere?: (result: T) => Promise<boolean>] | [mode: string, Work<T>]) =>
    typeof args[0] === 'string'
      ? beginAs(args[0], args[1] as Work<T>)
      : beginAs('', args[0], args[1] as ((result: T) => Promise<boolean>) | undefined)
  const beginAs = async <T>(mode: string, work: Work<T>, isThere?: (result: T) => Promise<boolean>): Promise<T> => {
    const until = deadline()
    const text = mode === '' ? BEGIN_TO_WRITE : `BEGIN ${mode.replaceAll(/[^a-z ]/gi, '')}`
    const begun = await patiently(until, async () => beginOn(await take(until), text), mayPass)
    return runTransaction(
      begun,
      work,
      async (id, result) => (await isCommitted(id)) && (await isThere?.(result)) !== false,
    )
  }
  const tag = createTag(execute)
  /** False also if it is not known, or not decided, after three times the patience. */
  const isCommitted = async (id: string) => {
    for (const end = performance.now() + 3 * patience; ; await delay(PAUSE_MS.last)) {
      const [row] = await tag<{ status: string }[]>`SELECT pg_xact_status(${id}::xid8) AS status`.catch((error) =>
        mayPass(error) ? [{ status: 'in progress' }] : [],
      )
      if (row?.status !== 'in progress') return row?.status === 'committed'
      if (performance.now() > end) return false
    }
  }
  const notify = (channel: string, payload: string) => tag`SELECT pg_notify(${channel}, ${payload})`
  const listener = createListener({
    open: (onnotify, onLost) =>
      openListenConnection(directRoute, { onnotice, onnotify, onLost, doubtMs, beatMs }, () => leaveServer()),
    notify,
    onHearing,
  })
  let ended: Promise<void> | null = null
  return Object.assign(tag, {
    begin,
    beginDirect: async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
      if (directRoute === route) return begin(work)
      const open = async () => {
        const { execute, close } = openConnection(directRoute, { onnotice, doubtMs })
        return await beginOn({ execute, giveBack: () => void close() }, 'BEGIN')
      }
      return runTransaction(await patiently(deadline(), open, mayPass), work)
    },
    listen: (channel: string, onNotification: (payload: string) => void, onListening?: () => void) =>
      listener.add(channel, { onNotification, onListening }),
    notify,
    end: ({ timeout }: { timeout?: number } = {}) => {
      ended ??= Promise.all([connections.end(timeout), listener.close()]).then(() => {})
      return ended
    },
  })
}

const mayPass = (error: unknown) => remedyOf(error) !== 'give_up'

/** Repeats `attempt` until it succeeds, `mayRepeat` denies its error, or the time (of `performance.now`) is over. */
async function patiently<T>(
  until: number,
  attempt: () => Promise<T>,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.last)) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() + pause > until || !mayRepeat(error)) throw error
    }
    await delay(pause)
  }
}

interface Waiter {
  resolve(connection: ServerConnection): void
  reject(error: Error): void
  timer: ReturnType<typeof setTimeout>
}

/** Lends at most `max` connections, the most recently used one first. Callers wait in order. */
function createConnections(open: () => ServerConnection, max: number) {
  const idle: ServerConnection[] = []
  const waiting: Waiter[] = []
  const taken = new Set<ServerConnection>()
  let ending: (() => void) | null = null
  let renewedAt = 0

  const isUsable = ({ lost, openedAt }: ServerConnection) => !lost && openedAt >= renewedAt
  const markTaken = (connection: ServerConnection) => {
    taken.add(connection)
    return connection
  }
  const nextConnection = (): ServerConnection | null => {
    for (let candidate = idle.pop(); candidate; candidate = idle.pop()) {
      if (isUsable(candidate)) return candidate
      void candidate.close()
    }
    return taken.size < max ? open() : null
  }
  return {
    take(): Promise<ServerConnection> {
      if (ending) return Promise.reject(new Error('the database connections are closed'))
      const connection = nextConnection()
      if (connection) return Promise.resolve(markTaken(connection))
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(waiter), 1)
          const text = `no database connection became free within ${WAIT_MS / 1000} s`
          reject(Object.assign(new Error(text), { code: 'CONNECTION_BUSY' }))
        }, WAIT_MS)
        const waiter: Waiter = { resolve, reject, timer }
        waiting.push(waiter)
      })
    },
    giveBack(connection: ServerConnection, lost: boolean): void {
      taken.delete(connection)
      const usable = !lost && isUsable(connection) && performance.now() - connection.openedAt < LIFETIME_MS
      if (usable) idle.push(connection)
      else void connection.close()
      const waiter = waiting.shift()
      if (waiter) {
        clearTimeout(waiter.timer)
        waiter.resolve(markTaken(nextConnection() ?? open()))
      } else if (taken.size === 0) ending?.()
    },
    /** Lends no connection again that was opened before. */
    renew(): void {
      renewedAt = performance.now()
    },
    /** Waits for running statements, at most `timeout` seconds if set, then closes all connections. */
    async end(timeout: number | undefined): Promise<void> {
      const done = new Promise<void>((resolve) => {
        ending = resolve
      })
      if (taken.size > 0 || waiting.length > 0) await (timeout === undefined ? done : endsWithin(timeout * 1000, done))
      for (const waiter of waiting.splice(0)) {
        clearTimeout(waiter.timer)
        waiter.reject(new Error('the database connections are closed'))
      }
      await Promise.all([...idle.splice(0), ...taken].map((connection) => connection.close()))
    },
  }
}

/** A connection taken from the pool. `giveBack` with `lost` closes it instead of keeping it. */
interface Connection {
  execute: Execute
  giveBack(options: { lost: boolean }): void
}

type Work<T> = (tx: Transaction) => Promise<T>

/** A connection in a transaction. `id` is null if nobody asked for it. */
interface BegunConnection extends Connection {
  id: string | null
}

/** Begins a transaction and asks for its id, by which it is known later whether it was committed. */
const BEGIN_TO_WRITE = 'BEGIN; SELECT pg_current_xact_id()::text AS id'

/** Begins a transaction. If that fails, the connection is given back as lost. */
async function beginOn(connection: Connection, text: string): Promise<BegunConnection> {
  try {
    const [row] = await connection.execute({ text, values: [] })
    return { ...connection, id: row?.id ?? null }
  } catch (error) {
    connection.giveBack({ lost: true })
    throw error
  }
}

/**
 * Runs `work` in the transaction that has begun, rolled back when it rejects. Its statements run in the order of their
 * awaits.
 * @param isDone says whether the transaction of this id, whose COMMIT was not answered, was carried out
 */
async function runTransaction<T>(
  connection: BegunConnection,
  work: Work<T>,
  isDone?: (id: string, result: T) => Promise<boolean>,
): Promise<T> {
  const run = inOrder(connection.execute)
  const control = (text: string) => run({ text, values: [] })
  let isHeld = true
  const giveBack = (lost: boolean) => {
    if (isHeld) connection.giveBack({ lost })
    isHeld = false
  }
  try {
    const result = await work(withSavepoints(run, control))
    const { command } = await control('COMMIT').catch(async (error: unknown) => {
      if (remedyOf(error) !== 'connect_anew' || connection.id === null) throw error
      giveBack(true)
      if (await isDone?.(connection.id, result)) return { command: 'COMMIT' }
      throw error
    })
    // The server answers COMMIT with ROLLBACK if a statement of the transaction failed.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back because one of its statements failed')
    giveBack(false)
    return result
  } catch (error) {
    // If ROLLBACK cannot be sent, the connection is closed, and the server rolls back by itself.
    if (isHeld)
      await control('ROLLBACK').then(
        () => giveBack(false),
        () => giveBack(true),
      )
    throw error
  }
}

function withSavepoints(run: Execute, control: (text: string) => Promise<unknown>): Transaction {
  let count = 0
  const savepoint = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const name = `s${++count}`
    await control(`SAVEPOINT ${name}`)
    try {
      return await work(tx)
    } catch (error) {
      await control(`ROLLBACK TO SAVEPOINT ${name}`)
      throw error
    }
  }
  const tx: Transaction = Object.assign(createTag(run), { savepoint })
  return tx
}

/** Serializes statements, because a connection runs one at a time. */
function inOrder(execute: Execute): Execute {
  let last: Promise<unknown> = Promise.resolve()
  return (statement, options) => {
    const next = last.then(() => execute(statement, options))
    last = next.catch(() => {})
    return next
  }
}

/** @param onDead called once when the connection does not answer any more */
async function openListenConnection(
  route: ServerRoute,
  { onLost, beatMs, ...callbacks }: ConnectionCallbacks & { doubtMs: number; beatMs: number },
  onDead: () => void,
) {
  let wanted = true
  let connected = false
  const connection = openConnection(route, { ...callbacks, onLost: () => wanted && connected && onLost?.() })
  const execute = inOrder(connection.execute)
  const beat = () => execute({ text: 'SELECT 1', values: [] })
  await beat()
  connected = true
  const beats = setInterval(() => {
    beat().catch((error: unknown) => {
      if (!wanted || !concernsServer(error)) return
      wanted = false
      clearInterval(beats)
      onDead()
    })
  }, beatMs)
  const run = (command: 'LISTEN' | 'UNLISTEN', channel: string) =>
    execute({ text: `${command} "${channel.replaceAll('"', '""')}"`, values: [] })
  return {
    listen: (channel: string) => run('LISTEN', channel),
    unlisten: (channel: string) => run('UNLISTEN', channel),
    close: () => {
      wanted = false
      clearInterval(beats)
      return connection.close()
    },
  }
}
