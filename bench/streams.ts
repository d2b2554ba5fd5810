import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { silentLogger } from '../src/base/log.ts'
import type { Sql } from '../src/data/db/sql.ts'
import { openEventLog } from '../src/events/event-log.ts'
import type { ClaimedRound } from '../src/rounds/round.ts'
import { appendStatus } from '../src/rounds/transitions.ts'
import { percentile, quantiles, type Section } from './lib/report.ts'
import { memoryOf, openStreams, withStack } from './lib/stack.ts'
import { seedSessions } from './seed-sessions.ts'

const CHANGES = 500
const AT_ONCE = 25
const SETTLE_MS = 12_000

/**
 * Measures one core with many open event streams of different sessions: memory per stream, queries while nothing
 * changes, and the time from the commit of a status to its arrival at the client.
 */
export const benchStreams = (options: { streams: number; idle_s: number }): Promise<Section> =>
  withStack(async (stack, sql) => {
    const arrivals = new Map<string, (at: number) => void>()
    const onText = (text: string) => {
      const message = /"message":"(change \d+)"/.exec(text)?.[1]
      if (message) arrivals.get(message)?.(performance.now())
    }
    const rounds = await createRounds(sql, options.streams)
    const [firstUrl = '', ...urls] = rounds.map(({ session }) => `${stack.url}/api/v1/events/subscribe/${session.uuid}`)
    const closers = [await openStreams([firstUrl], onText)]
    try {
      const quiet = await queriesPerSecond(sql, options.idle_s)
      const before = memoryOf(stack, 'core')
      closers.push(await openStreams(urls, onText))
      // Server statistics and garbage collection lag behind. Neither belongs to the idle state.
      await sleep(SETTLE_MS)
      const busy = await queriesPerSecond(sql, options.idle_s)
      const after = memoryOf(stack, 'core')
      const latencies = await measureChanges(sql, rounds, arrivals)
      return {
        title: `Event streams (${options.streams} open on one core, ${CHANGES} changes, ${AT_ONCE} at once)`,
        figures: [
          ...quantiles('change to delivery', latencies, { p99: 250 }),
          { name: 'memory a stream', value: ((after - before) * 1000) / options.streams, unit: 'kB', aim: 40 },
          { name: 'transactions a second, one stream', value: quiet, unit: '/s' },
          { name: `transactions a second, ${options.streams} streams`, value: busy, unit: '/s' },
        ],
        notes: ['Transactions are those of the whole stack: core, worker and queue.'],
      }
    } finally {
      for (const close of closers) close()
    }
  })

/** Creates sessions in flight. Their rounds count as finished, so no worker claims them. */
export async function createRounds(sql: Sql, count: number): Promise<Pick<ClaimedRound, 'id' | 'fence' | 'session'>[]> {
  await seedSessions(sql, count)
  await sql`UPDATE sessions SET in_flight = true, last_status = 'generating'`
  const rows = await sql<{ round_id: number; session_id: number; uuid: string }[]>`
    WITH round AS (
      INSERT INTO rounds (session_id, number, query, mode, finished_at)
      SELECT id, 1, 'bench', 'generate', now() FROM sessions
      RETURNING id, session_id
    )
    SELECT round.id AS round_id, session_id, sessions.uuid FROM round JOIN sessions ON sessions.id = session_id`
  return rows.map((row) => ({
    id: row.round_id,
    fence: 0,
    session: { id: row.session_id, uuid: row.uuid } as ClaimedRound['session'],
  }))
}

async function queriesPerSecond(sql: Sql, seconds: number): Promise<number> {
  const count = async () => {
    await sql`SELECT pg_stat_force_next_flush()`
    const [row] = await sql<
      { n: number }[]
    >`SELECT (xact_commit + xact_rollback)::int AS n FROM pg_stat_database WHERE datname = current_database()`
    return row?.n ?? 0
  }
  const before = await count()
  await sleep(seconds * 1000)
  return ((await count()) - before) / seconds
}

async function measureChanges(
  sql: Sql,
  rounds: Pick<ClaimedRound, 'id' | 'fence' | 'session'>[],
  arrivals: Map<string, (at: number) => void>,
) {
  const latencies: number[] = []
  const change = async (index: number) => {
    const round = rounds[(index * 7919) % rounds.length]
    if (!round) return
    const message = `change ${index}`
    const arrival = new Promise<number>((resolve) => arrivals.set(message, resolve))
    await appendStatus(sql, round as ClaimedRound, 'validating', message)
    const committed = performance.now()
    latencies.push(Math.max(0, (await arrival) - committed))
  }
  for (let start = 0; start < CHANGES; start += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, offset) => change(start + offset)))
  return latencies
}

type Watchers = Awaited<ReturnType<typeof openWatchers>>

/**
 * Measures the time of an event from the worker's call to each watcher of one session. The baseline, run in turns with
 * it, is a bare server that writes the payload of a NOTIFY to as many responses.
 */
export const benchWatchers = (options: { watchers: number; events: number }): Promise<Section> =>
  withStack(async (stack, sql) => {
    const bare = await startBareServer(stack.addresses.databaseUrl ?? '')
    const open: Watchers[] = []
    try {
      const [round] = await createRounds(sql, 1)
      if (!round) throw new Error('no round was created')
      const before = memoryOf(stack, 'core')
      const ours = await openWatchers(`${stack.url}/api/v1/events/activity/${round.session.uuid}`, options.watchers)
      open.push(ours)
      const memory = ((memoryOf(stack, 'core') - before) * 1000) / options.watchers
      const theirs = await openWatchers(bare.url, options.watchers)
      open.push(theirs)
      const { platform, baseline } = await measureWatchers(sql, round as ClaimedRound, {
        ours,
        theirs,
        events: options.events,
      })
      return {
        title: `Watchers (${options.watchers} of one session on one core, ${options.events} events)`,
        figures: [
          ...quantiles('event to delivery', platform, { p99: 100 }),
          ...quantiles('bare server', baseline),
          { name: 'ratio of the p99', value: percentile(platform, 0.99) / percentile(baseline, 0.99), unit: 'x' },
          { name: 'memory a watcher', value: memory, unit: 'kB' },
        ],
        notes: ['Ours includes masking, the INSERT, its NOTIFY and one reading; the bare server gets the text itself.'],
      }
    } finally {
      for (const watchers of open) watchers.close()
      bare.child.kill('SIGKILL')
    }
  })

async function measureWatchers(
  sql: Sql,
  round: ClaimedRound,
  { ours, theirs, events }: { ours: Watchers; theirs: Watchers; events: number },
): Promise<{ platform: number[]; baseline: number[] }> {
  const eventLog = openEventLog(sql, { ...round, attempt: 1 }, { log: silentLogger, mask: (text) => text })
  const platform: number[] = []
  const baseline: number[] = []
  const take = async (into: number[], arrivals: Promise<number[]>, begin: () => void) => {
    const started = performance.now()
    begin()
    for (const at of await arrivals) into.push(at - started)
  }
  for (let index = 0; index < events; index++) {
    const name = `EVENT_${index}.`
    await take(platform, ours.arrivals(name), () => eventLog.activity({ type: 'chain.began', chain: name }))
    await take(baseline, theirs.arrivals(name), () => {
      // A statement runs only once it is awaited.
      void sql.notify('bench_watchers', name).then(() => {})
    })
  }
  await eventLog.close()
  return { platform, baseline }
}

async function openWatchers(url: string, count: number) {
  let waiting: { text: string; times: number[]; resolve: (times: number[]) => void } | null = null
  const close = await openStreams(Array<string>(count).fill(url), (chunk) => {
    if (!waiting?.text || !chunk.includes(waiting.text)) return
    waiting.times.push(performance.now())
    if (waiting.times.length === count) waiting.resolve(waiting.times)
  })
  /** Waits until each stream has received the text. Returns the times of arrival. */
  const arrivals = (text: string) => new Promise<number[]>((resolve) => (waiting = { text, times: [], resolve }))
  return { arrivals, close }
}

function startBareServer(databaseUrl: string): Promise<{ url: string; child: ChildProcess }> {
  const env = { PATH: process.env.PATH ?? '', PLATFORM_SQL_DATABASE_URL: databaseUrl }
  const child = spawn(process.execPath, [`${PROJECT_ROOT}bench/bare-stream.ts`], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (url: string) => resolve({ url: url.trim(), child }))
    child.once('exit', (code) => reject(new Error(`the bare server ended with ${code}`)))
  })
}
