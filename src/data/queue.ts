import { type Job, PgBoss, type Db as QueueDatabase } from 'pg-boss'
import type { Logger } from '../base/log.ts'
import { endsWithin } from '../base/time.ts'
import type { Db, Sql, Transaction } from './db/sql.ts'

/** The abort reason of a run whose worker stops. The round does not fail; it returns to the queue. */
export const STOPPING = 'stopping'

/** Name of the queue that wakes workers for waiting rounds. */
const ROUND_QUEUE = 'rounds'

const HOURS = 60 * 60
const SWEEP_MS = 1_000

type RoundMessage = { round_id: number }

/** The sending side of the queue, the only one that the core needs. */
export type SendingQueue = Awaited<ReturnType<typeof startSendingQueue>>
export type RoundQueue = Omit<SendingQueue, 'close'>

/** Starts the sending half of the queue, which every process has. Creates the queue's schema if absent. */
export async function startSendingQueue(sql: Sql, log: Logger) {
  const boss = await startBoss(sql, log, { supervise: false })
  return {
    /** Enqueues the round in the caller's transaction, so that both happen or neither. */
    enqueue: (tx: Transaction, roundId: number) => send(boss, tx, roundId),
    /** True if the queue exists; cheap enough for the readiness check. */
    healthy: async () => (await boss.getQueue(ROUND_QUEUE)) !== null,
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

/**
 * Starts the working half of the queue. It calls `handle` for each waiting round, at most `concurrency` concurrently,
 * and requeues every second the rounds whose worker died.
 * @param options.beforeLook awaited before each look for such rounds
 * @param options.handle runs a round; if it rejects, the round is offered again. Its signal fires with the reason
 * `stopping` when this worker stops
 */
export async function startWorkingQueue(
  sql: Sql,
  log: Logger,
  options: {
    concurrency: number
    handle: (roundId: number, signal: AbortSignal) => Promise<void>
    beforeLook?: () => Promise<void>
  },
) {
  const boss = await startBoss(sql, log, { supervise: true })
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let closing = false
  const handleMessage = async ([job]: Job<RoundMessage>[]) => {
    if (!job) return
    // The message was fetched while the worker was stopping: rejecting leaves it to another worker.
    if (stopping.signal.aborted || closing) throw new Error(STOPPING)
    const run = options.handle(job.data.round_id, stopping.signal)
    running.add(run)
    await run.finally(() => running.delete(run))
  }
  await boss.work<RoundMessage>(
    ROUND_QUEUE,
    { localConcurrency: options.concurrency, pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 2 },
    handleMessage,
  )
  const look = async () => {
    await options.beforeLook?.()
    await sweep(boss, sql, log)
  }
  const sweeper = setInterval(() => {
    look().catch((error) => log.warn('the look for interrupted rounds failed', { error }))
  }, SWEEP_MS)
  return {
    /** Accepts no more rounds and aborts the running ones after `finishMs`; they have `handBackMs` to be requeued. */
    stop: async (limits: { finishMs: number; handBackMs: number }) => {
      closing = true
      clearInterval(sweeper)
      await boss.offWork(ROUND_QUEUE, { wait: false })
      await endsWithin(limits.finishMs, Promise.allSettled(running))
      stopping.abort(STOPPING)
      await endsWithin(limits.handBackMs, Promise.allSettled(running))
      await boss.stop({ graceful: false, close: false })
    },
  }
}

/**
 * Opens the queue, with up to five attempts: if two processes start together on a new database, both create its schema,
 * and the one that fails finds the schema at its next attempt.
 */
async function startBoss(sql: Sql, log: Logger, options: { supervise: boolean }): Promise<PgBoss> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openBoss(sql, log, options)
    } catch (error) {
      const lostRace = error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION
      if (!lostRace || attempt >= 5) throw error
    }
  }
}

const UNIQUE_VIOLATION = '23505'

async function openBoss(sql: Sql, log: Logger, options: { supervise: boolean }): Promise<PgBoss> {
  const boss = new PgBoss({
    // Runs the statements of the queue on our pool, and reads values as its own driver would.
    db: {
      ...transactionDatabase(sql),
      listen: async (channel, onNotification, onListening) => {
        const { unlisten } = await sql.listen(channel, onNotification, onListening)
        return { close: unlisten }
      },
    },
    schedule: false,
    useListenNotify: options.supervise,
    supervise: options.supervise,
  })
  boss.on('error', (error) => log.warn('queue', { error }))
  boss.on('warning', (warning) => log.warn(`queue: ${warning.message}`, { data: warning.data }))
  await boss.start()
  // A message may arrive twice without harm, because the lease decides who runs the round.
  await boss.createQueue(ROUND_QUEUE, {
    // At most one waiting message for each round.
    policy: 'short',
    notify: true,
    expireInSeconds: 24 * HOURS,
    heartbeatSeconds: 30,
    retryLimit: 3,
    deleteAfterSeconds: 1 * HOURS,
  })
  // Makes the library cache the queue. Otherwise each of the first sends, which hold their transaction's connection,
  // would need a second one to look the queue up, and with none left they would wait forever.
  await boss.findJobs(ROUND_QUEUE, { id: crypto.randomUUID() })
  return boss
}

async function send(boss: PgBoss, tx: Db, roundId: number): Promise<void> {
  await boss.send(ROUND_QUEUE, { round_id: roundId }, { db: transactionDatabase(tx), singletonKey: String(roundId) })
}

/** Runs the queue's statements in a caller's transaction. */
const transactionDatabase = (db: Db): QueueDatabase => ({
  executeSql: async (text, values) => ({ rows: await db.unsafe(text, values, { types: 'driver' }) }),
})

/**
 * Requeues up to 100 unfinished rounds without worker and message: expired, or not claimed within ten seconds. Messages
 * are due at once, so one that is due later was sent before the clock of the database went back.
 */
async function sweep(boss: PgBoss, sql: Sql, log: Logger): Promise<void> {
  await sql`
    UPDATE pgboss.job SET start_after = clock_timestamp()
    WHERE name = ${ROUND_QUEUE} AND state < 'active' AND start_after > clock_timestamp() + interval '1 minute'`
  const rows = await sql<{ id: number }[]>`
    SELECT r.id FROM rounds r
    WHERE r.finished_at IS NULL
      AND coalesce(r.lease_until, r.created_at + interval '10 seconds') < clock_timestamp()
      AND NOT EXISTS (
        SELECT 1 FROM pgboss.job j
        WHERE j.name = ${ROUND_QUEUE} AND j.singleton_key = r.id::text AND j.state < 'active')
    ORDER BY r.id LIMIT 100`
  for (const { id } of rows) {
    log.info('a round without a worker is queued again', { round_id: id })
    await send(boss, sql, id)
  }
}
