import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, type ClientRequest, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStack } from '../dev/stack/start-stack.ts'
import { silentLogger } from '../src/base/log.ts'
import { connect } from '../src/data/db/pool.ts'
import type { Sql } from '../src/data/db/types.ts'
import { createRoundJournal } from '../src/events/log-writer.ts'
import type { ClaimedRound } from '../src/rounds/round.ts'
import { projectRoot, residentMegabytes } from './lib/process.ts'
import type { Section } from './lib/report.ts'
import { percentile } from './lib/statistics.ts'
import { createRounds } from './streams.ts'

const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })

/** Open streams that all show the same events. */
interface Watchers {
  /** Waits until each of them has got the text, and answers the moments at which they did. */
  arrivals(text: string): Promise<number[]>
  close(): void
}

/**
 * Measures how long an event takes from the worker's call to each of many watchers of one session. It is compared with
 * a bare server, which writes what a NOTIFY carries to as many responses. The two take turns.
 */
export async function benchWatchers(options: { watchers: number; events: number }): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'))
  const env = { ...process.env, PLATFORM_PORT: undefined }
  const stack = await startStack({ folder, env, embedded: true })
  const databaseUrl = stack.addresses.databaseUrl ?? ''
  const sql = connect(databaseUrl)
  const bare = await startBareServer(databaseUrl)
  const open: Watchers[] = []
  try {
    const [round] = await createRounds(sql, 1)
    if (!round) throw new Error('no round was created')
    const core = stack.children.find((child) => child.name === 'core')?.pid ?? 0
    const before = residentMegabytes(core)
    const ours = await openWatchers(`${stack.url}/api/v1/events/activity/${round.session.uuid}`, options.watchers)
    open.push(ours)
    const memory = ((residentMegabytes(core) - before) * 1000) / options.watchers
    const theirs = await openWatchers(bare.url, options.watchers)
    open.push(theirs)
    const { platform, baseline } = await measure(sql, round as ClaimedRound, { ours, theirs, events: options.events })
    const p99 = percentile(platform, 0.99)
    return {
      title: `Watchers (${options.watchers} of one session on one core, ${options.events} events)`,
      figures: [
        { name: 'event to delivery, p50', value: percentile(platform, 0.5), unit: 'ms' },
        { name: 'event to delivery, p99', value: p99, unit: 'ms', aim: 100 },
        { name: 'bare server, p50', value: percentile(baseline, 0.5), unit: 'ms' },
        { name: 'bare server, p99', value: percentile(baseline, 0.99), unit: 'ms' },
        { name: 'ratio of the p99', value: p99 / percentile(baseline, 0.99), unit: 'x' },
        { name: 'memory a watcher', value: memory, unit: 'kB' },
      ],
      notes: ['Ours includes masking, the INSERT, its NOTIFY and one reading; the bare server gets the text itself.'],
    }
  } finally {
    for (const watchers of open) watchers.close()
    bare.child.kill('SIGKILL')
    await sql.end({ timeout: 1 })
    await stack.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(
  sql: Sql,
  round: ClaimedRound,
  { ours, theirs, events }: { ours: Watchers; theirs: Watchers; events: number },
): Promise<{ platform: number[]; baseline: number[] }> {
  const journal = createRoundJournal(sql, { ...round, attempt: 1 }, { log: silentLogger, mask: (text) => text })
  const platform: number[] = []
  const baseline: number[] = []
  const take = async (into: number[], arrivals: Promise<number[]>, begin: () => void) => {
    const started = performance.now()
    begin()
    for (const at of await arrivals) into.push(at - started)
  }
  for (let index = 0; index < events; index++) {
    const name = `EVENT_${index}.`
    await take(platform, ours.arrivals(name), () => journal.activity({ type: 'chain.began', chain: name }))
    await take(baseline, theirs.arrivals(name), () => {
      // A statement runs when somebody waits for it.
      void sql.notify('bench_watchers', name).then(() => {})
    })
  }
  await journal.close()
  return { platform, baseline }
}

async function openWatchers(url: string, count: number): Promise<Watchers> {
  const calls: ClientRequest[] = []
  let waiting: { text: string; times: number[]; resolve: (times: number[]) => void } | null = null
  const hear = (chunk: string) => {
    if (!waiting || !chunk.includes(waiting.text)) return
    waiting.times.push(performance.now())
    if (waiting.times.length === count) waiting.resolve(waiting.times)
  }
  const openOne = () =>
    new Promise<void>((resolve, reject) => {
      const call = request(url, { agent }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`))
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (chunk.startsWith(': keepalive') ? resolve() : hear(chunk)))
        response.on('error', () => {})
      })
      call.on('error', reject)
      call.end()
      calls.push(call)
    })
  for (let start = 0; start < count; start += 100)
    await Promise.all(Array.from({ length: Math.min(100, count - start) }, openOne))
  return {
    arrivals: (text) => new Promise((resolve) => (waiting = { text, times: [], resolve })),
    close: () => {
      for (const call of calls) call.destroy()
    },
  }
}

function startBareServer(databaseUrl: string): Promise<{ url: string; child: ChildProcess }> {
  const env = { PATH: process.env.PATH ?? '', PLATFORM_SQL_DATABASE_URL: databaseUrl }
  const child = spawn(process.execPath, [`${projectRoot}bench/requests/bare-stream.ts`], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (url: string) => resolve({ url: url.trim(), child }))
    child.once('exit', (code) => reject(new Error(`the bare server ended with ${code}`)))
  })
}
