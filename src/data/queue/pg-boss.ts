import { type Job, PgBoss, type Db as QueueDatabase } from 'pg-boss'
import type { Logger } from '../../base/log.ts'
import type { Db, Sql } from '../db/types.ts'
import { ROUND_QUEUE, type RoundQueue, STOPPING } from './types.ts'

const HOURS = 60 * 60
const SWEEP_MS = 1_000

interface RoundMessage {
  round_id: number
}

/** A message says that a round waits. It is cheap and may come twice: the lease decides who runs it. */
const QUEUE_OPTIONS = {
  // At most one waiting message for each round.
  policy: 'short',
  notify: true,
  expireInSeconds: 24 * HOURS,
  heartbeatSeconds: 30,
  retryLimit: 3,
  deleteAfterSeconds: 1 * HOURS,
}

export interface SendingQueue extends RoundQueue {
  close(): Promise<void>
}

/** The sending half, for every process. Creates the queue's own schema when it is absent. */
export async function startSendingQueue(sql: Sql, log: Logger): Promise<SendingQueue> {
  const boss = await startBoss(sql, log, { supervise: false })
  return {
    enqueue: (tx, roundId) => send(boss, tx, roundId),
    healthy: async () => (await boss.getQueue(ROUND_QUEUE)) !== null,
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

export interface WorkingQueue {
  /**
   * Takes no further rounds, waits `finishMs` for the running ones, then aborts them with reason
   * `stopping` and waits `handBackMs`.
   */
  stop(limits: { finishMs: number; handBackMs: number }): Promise<void>
}

/**
 * The working half: calls `handle` for each waiting round, at most `concurrency` at a time, and puts
 * rounds back into the queue whose worker died.
 * @param options.handle a rejection offers the round again; `signal` fires with reason `stopping`
 */
export async function startWorkingQueue(
  sql: Sql,
  log: Logger,
  options: { concurrency: number; handle: (roundId: number, signal: AbortSignal) => Promise<void> },
): Promise<WorkingQueue> {
  const boss = await startBoss(sql, log, { supervise: true })
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let closing = false
  const handleMessage = async ([job]: Job<RoundMessage>[]) => {
    if (!job) return
    // Fetched on the last breath: rejecting puts the message back for another worker.
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
  const sweeper = setInterval(() => {
    sweep(boss, sql, log).catch((error) => log.warn('the look for interrupted rounds failed', { error }))
  }, SWEEP_MS)
  return {
    stop: async (limits) => {
      closing = true
      clearInterval(sweeper)
      await boss.offWork(ROUND_QUEUE, { wait: false })
      await settled(running, limits.finishMs)
      stopping.abort(STOPPING)
      await settled(running, limits.handBackMs)
      await boss.stop({ graceful: false, close: false })
    },
  }
}

/** Two processes that start together on a new database may both create the queue's schema: the loser finds it there. */
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
    db: queueDatabase(sql),
    schedule: false,
    useListenNotify: options.supervise,
    supervise: options.supervise,
  })
  boss.on('error', (error) => log.warn('queue', { error }))
  boss.on('warning', (warning) => log.warn(`queue: ${warning.message}`, { data: warning.data }))
  await boss.start()
  await boss.createQueue(ROUND_QUEUE, QUEUE_OPTIONS)
  // Makes it remember the queue. Otherwise the first sends, each inside a transaction, would all ask
  // for a second connection to look the queue up, and with none left wait for ever.
  await boss.findJobs(ROUND_QUEUE, { id: crypto.randomUUID() })
  return boss
}

async function send(boss: PgBoss, tx: Db, roundId: number): Promise<void> {
  await boss.send(ROUND_QUEUE, { round_id: roundId }, { db: transactionDatabase(tx), singletonKey: String(roundId) })
}

async function sweep(boss: PgBoss, sql: Sql, log: Logger): Promise<void> {
  for (const roundId of await orphanedRounds(sql)) {
    log.info('a round without a worker is queued again', { round_id: roundId })
    await send(boss, sql, roundId)
  }
}

async function settled(running: Set<Promise<void>>, limitMs: number): Promise<void> {
  if (running.size === 0) return
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  await Promise.race([Promise.allSettled(running), limit])
  clearTimeout(timer)
}

/** Lets the queue run its statements on our pool, with the values that its own driver would give it. */
function queueDatabase(sql: Sql): QueueDatabase {
  return {
    ...transactionDatabase(sql),
    listen: async (channel, onNotification, onListening) => {
      const { unlisten } = await sql.listen(channel, onNotification, onListening)
      return { close: unlisten }
    },
  }
}

/** For statements inside of a caller's transaction. */
const transactionDatabase = (db: Db): QueueDatabase => ({
  executeSql: async (text, values) => ({ rows: await db.unsafe(text, values, { types: 'driver' }) }),
})

/**
 * Rounds that nobody runs and for which no message waits: the lease lapsed, or it never began long
 * after the round was accepted.
 */
async function orphanedRounds(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    SELECT r.id FROM rounds r
    WHERE r.finished_at IS NULL
      AND coalesce(r.lease_until, r.created_at + interval '10 seconds') < clock_timestamp()
      AND NOT EXISTS (
        SELECT 1 FROM pgboss.job j
        WHERE j.name = ${ROUND_QUEUE} AND j.singleton_key = r.id::text AND j.state < 'active')
    ORDER BY r.id LIMIT 100`
  return rows.map((row) => row.id)
}
