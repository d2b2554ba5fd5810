import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../src/data/db/migrate.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { appendStatus } from '../../src/rounds/transitions.ts'
import type { Runtime } from '../../test/suites/runtimes/install.ts'
import { startStores } from '../../test/suites/runtimes/stores.ts'
import { residentMegabytes } from '../lib/blocking.ts'
import { type Growth, growthTable } from '../lib/growth.ts'
import { processorTime } from '../lib/load.ts'
import { percentile, type Section } from '../lib/report.ts'
import { findRuntimes, type StartedServer, startServer } from '../lib/server.ts'
import { createRounds } from '../streams.ts'
import type { Order, Report } from './streams-client.ts'

const AT_ONCE = 200
const SETTLE_MS = 12_000
const CHANGES_AT_ONCE = 25
const OPEN_LIMIT_MS = 300_000
/** Files that a process has open beside its streams, and connections that are not closed yet. */
const SPARE_FILES = 100
/** The flags of `npm run core`. */
const AS_SHIPPED = ['--min-semi-space-size=4', '--max-semi-space-size=4']

type Round = Awaited<ReturnType<typeof createRounds>>[number]

interface Measured {
  size: number
  /** Bytes of resident memory for each stream. */
  memory_kb: number
  bare_kb: number
  latencies: number[]
  /** From the moment at which the new core is ready until every reader has its state again. */
  storm_s: number
  storm_cpu_us: number
  refused: number
}

/**
 * Measures event streams of as many sessions on one core: memory, the time of a change, and all readers that come back
 * at once after the core was killed. The baseline is a bare `ReadableStream` of the same runtime.
 */
export async function benchGrowthStreams(options: {
  sizes: number[]
  changes: number
  runtimes?: string[]
}): Promise<Section> {
  const notes = [
    'The readers are in a process of their own. Storm: the core is killed, started again on its port, and all readers ' +
      'connect again at once.',
  ]
  assertOpenFiles(Math.max(...options.sizes) + SPARE_FILES)
  const stores = await startStores()
  try {
    await migrate(stores.sql)
    const rounds = await createRounds(stores.sql, Math.max(...options.sizes))
    const cases: Growth[] = []
    for (const runtime of await findRuntimes(notes)) {
      if (options.runtimes && !options.runtimes.includes(runtime.name)) continue
      const measured: Measured[] = []
      for (const size of options.sizes)
        measured.push(
          await measureSize({
            runtime,
            env: stores.env,
            sql: stores.sql,
            rounds: rounds.slice(0, size),
            changes: options.changes,
          }),
        )
      cases.push(...casesOf(runtime.name, measured))
    }
    return { title: 'Event streams on one core', figures: [], tables: [growthTable('Open streams', cases)], notes }
  } finally {
    await stores.close()
  }
}

/** Throws where a process may not open so many files, before streams that cannot be opened are waited for. */
function assertOpenFiles(needed: number): void {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
  const [, limit = 'unlimited'] = /^Max open files +(\d+)/m.exec(limits) ?? []
  if (Number(limit) < needed)
    throw new Error(`${needed} files have to be open at once, and ${limit} may be: raise the limit with ulimit -n`)
}

function casesOf(name: string, measured: readonly Measured[]): Growth[] {
  const of = (pick: (one: Measured) => number) => measured.map((one) => ({ size: one.size, cost: pick(one) }))
  return [
    { name: `${name}: memory a stream`, unit: 'kB', points: of(({ memory_kb }) => memory_kb) },
    { name: `${name}: bare ReadableStream`, unit: 'kB', points: of(({ bare_kb }) => bare_kb) },
    { name: `${name}: ratio`, unit: 'x', points: of(({ memory_kb, bare_kb }) => memory_kb / bare_kb), aim: 1.3 },
    { name: `${name}: change to delivery, p50`, unit: 'ms', points: of(({ latencies }) => percentile(latencies, 0.5)) },
    {
      name: `${name}: change to delivery, p99`,
      unit: 'ms',
      points: of(({ latencies }) => percentile(latencies, 0.99)),
      aim: 50,
    },
    { name: `${name}: storm`, unit: 's', points: of(({ storm_s }) => storm_s) },
    { name: `${name}: storm, processor time a stream`, unit: 'us', points: of(({ storm_cpu_us }) => storm_cpu_us) },
    { name: `${name}: storm, answers other than 200`, unit: '', points: of(({ refused }) => refused) },
  ]
}

interface Setting {
  runtime: Runtime
  env: Record<string, string>
  sql: Sql
  rounds: readonly Round[]
  changes: number
}

async function measureSize({ runtime, env, sql, rounds, changes }: Setting): Promise<Measured> {
  const size = rounds.length
  const paths = rounds.map(({ session }) => `/api/v1/events/subscribe/${session.uuid}`)
  const start = (entry: string, args: string[], port = '0') =>
    startServer(runtime, entry, {
      args,
      env: { ...env, PLATFORM_PORT: port },
      logPath: `${env.PLATFORM_CONFIG}.${runtime.name}.log`,
    })
  const flags = runtime.name === 'node' ? AS_SHIPPED : []
  const bare = await start('bench/bare-readable.ts', flags)
  const bare_kb = await memoryOfStreams(bare, paths)
  bare.stop()

  let core = await start('routes/main.ts', flags)
  const readers = startReaders()
  try {
    const memory_kb = await openAll(core, readers, paths)
    const latencies = await measureChanges(sql, rounds, readers, changes)
    readers.order({ type: 'open', url: core.url, paths: [], at_once: size })
    const opened = readers.open()
    core.stop()
    core = await start('routes/main.ts', flags, new URL(core.url).port)
    const ready = performance.timeOrigin + performance.now()
    const { at, refused } = await opened
    return {
      ...{ size, memory_kb, bare_kb, latencies, refused },
      storm_s: (at - ready) / 1000,
      storm_cpu_us: (processorTime(core.pid) * 1000) / size,
    }
  } finally {
    readers.stop()
    core.stop()
  }
}

async function memoryOfStreams(server: StartedServer, paths: string[]): Promise<number> {
  const readers = startReaders()
  try {
    return await openAll(server, readers, paths)
  } finally {
    readers.stop()
  }
}

/** Opens all streams and returns the kB of resident memory that each takes, after the first one. */
async function openAll(server: StartedServer, readers: Readers, paths: string[]): Promise<number> {
  const [first = '', ...others] = paths
  const one = readers.open()
  readers.order({ type: 'open', url: server.url, paths: [first], at_once: AT_ONCE })
  await one
  await sleep(2_000)
  const before = residentMegabytes(server.pid)
  const all = readers.open()
  readers.order({ type: 'open', url: server.url, paths: others, at_once: AT_ONCE })
  await all
  await sleep(SETTLE_MS)
  return ((residentMegabytes(server.pid) - before) * 1000) / others.length
}

let named = 0

async function measureChanges(
  sql: Sql,
  rounds: readonly Round[],
  readers: Readers,
  changes: number,
): Promise<number[]> {
  const latencies: number[] = []
  const change = async (index: number) => {
    const round = rounds[(index * 7919) % rounds.length]
    if (!round) return
    // A message of an earlier size would be no change for a session that has it already.
    const text = `change ${++named}`
    const arrival = readers.arrival(text)
    await appendStatus(sql, round as ClaimedRound, 'validating', text)
    const committed = performance.timeOrigin + performance.now()
    latencies.push(Math.max(0, (await arrival) - committed))
  }
  for (let start = 0; start < changes; start += CHANGES_AT_ONCE)
    await Promise.all(Array.from({ length: CHANGES_AT_ONCE }, (_, offset) => change(start + offset)))
  return latencies
}

type Readers = ReturnType<typeof startReaders>

function startReaders() {
  const child: ChildProcess = fork(join(import.meta.dirname, 'streams-client.ts'), { execArgv: [] })
  const arrivals = new Map<string, (at: number) => void>()
  let onOpen: (report: { at: number; refused: number }) => void = () => {}
  child.on('message', (report: Report) => {
    if (report.type === 'open') return onOpen(report)
    arrivals.get(report.text)?.(report.at)
    arrivals.delete(report.text)
  })
  return {
    order: (order: Order) => void child.send(order),
    /** Resolves when all streams have their state, at the next time. */
    open: () =>
      new Promise<{ at: number; refused: number }>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error('not all streams were open in time')), OPEN_LIMIT_MS)
        onOpen = (report) => {
          clearTimeout(late)
          resolve(report)
        }
      }),
    arrival: (text: string) => new Promise<number>((resolve) => arrivals.set(text, resolve)),
    stop: () => void child.kill('SIGKILL'),
  }
}
