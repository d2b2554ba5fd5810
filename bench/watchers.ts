import { type ChildProcess, spawn } from 'node:child_process'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { silentLogger } from '../src/base/log.ts'
import type { Sql } from '../src/data/db/sql.ts'
import { openEventLog } from '../src/events/event-log.ts'
import type { ClaimedRound } from '../src/rounds/round.ts'
import { percentile, quantiles, type Section } from './lib/report.ts'
import { memoryOf, openStreams, withStack } from './lib/stack.ts'
import { createRounds } from './streams.ts'

interface Watchers {
  /** Waits until each stream has received the text. Returns the times of arrival. */
  arrivals(text: string): Promise<number[]>
  close(): void
}

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
      const { platform, baseline } = await measure(sql, round as ClaimedRound, { ours, theirs, events: options.events })
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

async function measure(
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

async function openWatchers(url: string, count: number): Promise<Watchers> {
  let waiting: { text: string; times: number[]; resolve: (times: number[]) => void } | null = null
  const close = await openStreams(Array<string>(count).fill(url), (chunk) => {
    if (!waiting?.text || !chunk.includes(waiting.text)) return
    waiting.times.push(performance.now())
    if (waiting.times.length === count) waiting.resolve(waiting.times)
  })
  return { arrivals: (text) => new Promise((resolve) => (waiting = { text, times: [], resolve })), close }
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
