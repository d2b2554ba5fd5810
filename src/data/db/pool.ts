import type postgres from 'postgres'
import { openConnection, type ServerAddress, type ServerConnection, toServerAddress } from './connection.ts'
import { createListener } from './listener.ts'
import { createTag, type Execute } from './query.ts'
import type { Sql, Transaction } from './types.ts'

export interface ConnectOptions {
  /** Connections at most. Default 10. */
  max?: number
  onnotice?: (notice: postgres.Notice) => void
  /** Told of each statement, before it runs. */
  onstatement?: (text: string) => void
}

/**
 * Opens the pool; no connection is made before the first statement. Timestamps are read as the one
 * published form (`toFixedTimestamp`), 64-bit integers as numbers. A statement on a connection that
 * breaks is rejected; the ones after it get new connections.
 * @param url `postgresql://` or `postgres://`, `sslmode=` (or `ssl=`) in the spelling of libpq
 * Errors: `the database URL is not valid`, `sslmode '<mode>' is not known`.
 */
export function connect(url: string, { max = 10, onnotice = () => {}, onstatement }: ConnectOptions = {}): Sql {
  return createPool(toServerAddress(url), { max, onnotice, onstatement })
}

export interface PoolOptions {
  max: number
  /** Told of each statement, before it runs. */
  onstatement?: (text: string) => void
  onnotice: (notice: postgres.Notice) => void
}

/** How long a statement waits for a connection. */
const WAIT_MS = 30_000
const LIFETIME_MS = 60 * 60_000

/** Connections that broke are thrown away, never used again; a new one is opened when one is needed. */
function createPool(address: ServerAddress, options: PoolOptions): Sql {
  const connections = createConnections(() => openConnection(address, options), options.max)
  const take = async (): Promise<Connection> => {
    const connection = await connections.take()
    return {
      execute: (statement, how) => {
        options.onstatement?.(statement.text)
        return connection.execute(statement, how)
      },
      giveBack: ({ lost }) => connections.giveBack(connection, lost),
    }
  }
  const execute: Execute = async (statement, how) => {
    const connection = await take()
    try {
      const result = await connection.execute(statement, how)
      connection.giveBack({ lost: false })
      return result
    } catch (error) {
      // A text that began a transaction may have left it open.
      connection.giveBack({ lost: /\bbegin\b/i.test(statement.text) })
      throw error
    }
  }
  const begin = async <T>(
    ...args: [(tx: Transaction) => Promise<T>] | [string, (tx: Transaction) => Promise<T>]
  ): Promise<T> => {
    const [mode, work] = args.length === 1 ? ['', args[0]] : args
    return runTransaction(await take(), mode, work)
  }
  const listener = createListener((onNotification, onLost) =>
    openListenConnection(address, options, onNotification, onLost),
  )
  const tag = createTag(execute)
  let ended: Promise<void> | null = null
  return Object.assign(tag, {
    begin,
    listen: (channel: string, onNotification: (payload: string) => void, onListening?: () => void) =>
      listener.add(channel, { onNotification: onNotification, onListening: onListening }),
    notify: (channel: string, payload: string) => tag`SELECT pg_notify(${channel}, ${payload})`,
    end: ({ timeout }: { timeout?: number } = {}) => {
      ended ??= Promise.all([connections.end(timeout), listener.close()]).then(() => {})
      return ended
    },
  })
}

interface Waiter {
  resolve(connection: ServerConnection): void
  reject(error: Error): void
  timer: ReturnType<typeof setTimeout>
}

/** At most `max` connections, the one used last first; waiters in order. */
function createConnections(open: () => ServerConnection, max: number) {
  const idle: ServerConnection[] = []
  const waiting: Waiter[] = []
  const taken = new Set<ServerConnection>()
  let ending: (() => void) | null = null

  const markTaken = (connection: ServerConnection) => {
    taken.add(connection)
    return connection
  }
  const nextConnection = (): ServerConnection | null => {
    for (let candidate = idle.pop(); candidate; candidate = idle.pop()) {
      if (!candidate.lost) return candidate
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
          reject(new Error(`no database connection became free within ${WAIT_MS / 1000} s`))
        }, WAIT_MS)
        const waiter: Waiter = { resolve, reject, timer }
        waiting.push(waiter)
      })
    },
    giveBack(connection: ServerConnection, lost: boolean): void {
      taken.delete(connection)
      const usable = !lost && !connection.lost && performance.now() - connection.openedAt < LIFETIME_MS
      if (usable) idle.push(connection)
      else void connection.close()
      const waiter = waiting.shift()
      if (waiter) {
        clearTimeout(waiter.timer)
        waiter.resolve(markTaken(nextConnection() ?? open()))
      } else if (taken.size === 0) ending?.()
    },
    /** Waits for what runs, `timeout` seconds at most. */
    async end(timeout: number | undefined): Promise<void> {
      const done = new Promise<void>((resolve) => {
        ending = resolve
      })
      let timer: ReturnType<typeof setTimeout> | undefined
      if (taken.size > 0 || waiting.length > 0) {
        const limit = new Promise<void>((resolve) => {
          if (timeout !== undefined) timer = setTimeout(resolve, timeout * 1000)
        })
        await Promise.race([done, limit])
        clearTimeout(timer)
      }
      for (const waiter of waiting.splice(0)) {
        clearTimeout(waiter.timer)
        waiter.reject(new Error('the database connections are closed'))
      }
      await Promise.all([...idle.splice(0), ...taken].map((connection) => connection.close()))
    },
  }
}

async function openListenConnection(
  address: ServerAddress,
  options: PoolOptions,
  onnotify: (channel: string, payload: string) => void,
  onLost: () => void,
) {
  let wanted = true
  let connected = false
  const connection = openConnection(address, {
    onnotice: options.onnotice,
    onnotify,
    onLost: () => wanted && connected && onLost(),
  })
  await connection.execute({ text: 'SELECT 1', values: [] })
  connected = true
  let last: Promise<unknown> = Promise.resolve()
  const run = (command: 'LISTEN' | 'UNLISTEN', channel: string) => {
    const next = last.then(() =>
      connection.execute({ text: `${command} "${channel.replaceAll('"', '""')}"`, values: [] }),
    )
    last = next.catch(() => {})
    return next
  }
  return {
    listen: (channel: string) => run('LISTEN', channel),
    unlisten: (channel: string) => run('UNLISTEN', channel),
    close: () => {
      wanted = false
      return connection.close()
    },
  }
}

/** A connection that was taken from the pool. `giveBack` closes it when it is lost. */
interface Connection {
  execute: Execute
  giveBack(options: { lost: boolean }): void
}

/**
 * Runs `work` in a transaction: commit when it resolves, rollback when it rejects. Its statements run
 * one after the other in the order in which they were awaited.
 */
async function runTransaction<T>(
  connection: Connection,
  mode: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const run = inOrder(connection.execute)
  const control = (text: string) => run({ text, values: [] })
  try {
    await control(`BEGIN ${mode.replaceAll(/[^a-z ]/gi, '')}`)
    const result = await work(withSavepoints(run, control))
    const { command } = await control('COMMIT')
    // The answer to the end of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back because one of its statements failed')
    connection.giveBack({ lost: false })
    return result
  } catch (error) {
    // Closing the connection rolls back as well; so does a ROLLBACK that does not get through.
    const rollback = control('ROLLBACK').then(
      () => connection.giveBack({ lost: false }),
      () => connection.giveBack({ lost: true }),
    )
    await rollback
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

/** One connection takes one statement at a time. */
function inOrder(execute: Execute): Execute {
  let last: Promise<unknown> = Promise.resolve()
  return (statement, options) => {
    const next = last.then(() => execute(statement, options))
    last = next.catch(() => {})
    return next
  }
}
