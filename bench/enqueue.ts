import { resolveUser } from '../src/access/users.ts'
import { silentLogger } from '../src/base/log.ts'
import { migrate } from '../src/data/db/migrate.ts'
import { connect } from '../src/data/db/pool.ts'
import type { Sql } from '../src/data/db/sql.ts'
import { createSendingQueue, startWorkingQueue } from '../src/data/queue.ts'
import { acceptFirstRound } from '../src/rounds/accept.ts'
import { claimForRun } from '../src/rounds/claim.ts'
import { finishRound } from '../src/rounds/finish.ts'
import { percentile, quantiles, type Section } from './lib/report.ts'
import { withPostgres } from './lib/stack.ts'

/**
 * Measures the time from the commit of a request to the claim of its round. The baseline is a bare NOTIFY between two
 * connections to the same server.
 */
export const benchEnqueue = (options: { rounds: number }): Promise<Section> =>
  withPostgres(async (url) => {
    const sender = connect(url)
    const worker = connect(url)
    await migrate(sender)
    const samples = await measureRounds(sender, worker, options.rounds)
    const bare = await measureNotify(sender, worker, options.rounds)
    await Promise.all([sender.end({ timeout: 1 }), worker.end({ timeout: 1 })])
    return {
      title: `Enqueue to start of a round (${options.rounds} rounds)`,
      figures: [
        ...quantiles('accepted to claimed', samples, { p50: 20 }),
        { name: 'bare NOTIFY to LISTEN, p50', value: percentile(bare, 0.5), unit: 'ms' },
        { name: 'ratio of the medians', value: percentile(samples, 0.5) / percentile(bare, 0.5), unit: 'x' },
      ],
    }
  })

async function measureRounds(sender: Sql, worker: Sql, rounds: number): Promise<number[]> {
  const unnamed = { email: null, display_name: null, elevated: false }
  const user = await resolveUser(sender, { issuer: 'urn:bench', subject: 'bench', ...unnamed })
  const queue = createSendingQueue(sender)
  const none = async () => {}
  const nothing = { get: async () => null, set: none, delete: none, isOn: () => true, ping: none, close: none }
  let start = Promise.withResolvers<number>()
  const working = await startWorkingQueue(worker, silentLogger, {
    concurrency: 4,
    handle: async (roundId) => {
      const claim = await claimForRun(worker, roundId)
      start.resolve(performance.now())
      if (!claim) return
      const end = { status: 'completed', message: 'GENERATE', history: null, commit: null, usage: null } as const
      await finishRound({ sql: worker, cache: nothing, queue }, claim, end)
    },
  })
  const samples: number[] = []
  const place = { repo_uri: 'https://git.invalid/bench/repository', scope_id: 'bench', iac_path: null }
  const input = { ...place, provider: 'aws', user_id: user.id, mode: 'generate', is_partial: false } as const
  for (let index = 0; index < rounds; index++) {
    start = Promise.withResolvers()
    const round = { ...input, query: `round ${index}` }
    await acceptFirstRound({ sql: sender, queue, now: () => new Date() }, round)
    const accepted = performance.now()
    samples.push(Math.max(0, (await start.promise) - accepted))
  }
  await working.stop({ finishMs: 1000, handBackMs: 100 })
  return samples
}

async function measureNotify(sender: Sql, worker: Sql, count: number): Promise<number[]> {
  let arrival = Promise.withResolvers<number>()
  const listener = await worker.listen('bench_notify', () => arrival.resolve(performance.now()))
  const samples: number[] = []
  for (let index = 0; index < count; index++) {
    arrival = Promise.withResolvers()
    const sent = performance.now()
    await sender.notify('bench_notify', '')
    samples.push((await arrival.promise) - sent)
  }
  await listener.unlisten()
  return samples
}
