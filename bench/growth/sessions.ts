import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../dev/stack/data-folder.ts'
import { listUsers } from '../../src/access/users.ts'
import { createLogger } from '../../src/base/log.ts'
import type { Context } from '../../src/context.ts'
import { migrate } from '../../src/data/db/migrate.ts'
import { connect } from '../../src/data/db/pool.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { acceptFirstRound } from '../../src/rounds/accept.ts'
import { claimForRun } from '../../src/rounds/claim.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { appendStatus } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { countTotals } from '../../src/sessions/lists/totals.ts'
import { memoryCache } from '../../test/helpers/memory-cache.ts'
import { type Growth, growthTable } from '../lib/growth.ts'
import { recordPlans } from '../lib/query-plans.ts'
import { percentile, type Section, timed } from '../lib/report.ts'
import { withPostgres } from '../lib/stack.ts'
import { seedSessions } from '../seed-sessions.ts'
import { seedRounds } from './seed-rounds.ts'
import { listCases, toFilter, totalsCases } from './session-cases.ts'

const AIM_P50_MS = 10
const AIM_P99_MS = 50

/** Most sessions with all rows of a round, because a million of them would take half an hour and 25 GB. */
const MAX_WITH_ROUND = 100_000

/** Samples in ms of each case. */
type Samples = Map<string, number[]>
interface Measured {
  size: number
  samples: Samples
  bytes_a_session: number
  plans: string[]
}

/** Measures reading and writing sessions in databases of growing size. */
export async function benchGrowthSessions(options: { sizes: readonly number[]; runs: number }): Promise<Section> {
  const measured: Measured[] = []
  for (const size of options.sizes) measured.push(await withPostgres((url) => measureSize(url, size, options.runs)))
  const results = join(PROJECT_ROOT, 'bench/results')
  await mkdir(results, { recursive: true })
  await writeFile(join(results, 'sessions-plans.txt'), measured.flatMap(({ plans }) => plans).join('\n'))
  return {
    title: 'Growth of sessions',
    figures: [],
    tables: [
      growthTable(
        `p50 in ms (${options.runs} runs each, pages of 20 with their total)`,
        cases(measured, 0.5, AIM_P50_MS),
      ),
      growthTable('p99 in ms', cases(measured, 0.99, AIM_P99_MS)),
      growthTable('best in ms, which other work on the machine changes least', cases(measured, 0)),
      growthTable('Disk, all tables with their indexes', [
        {
          name: 'a session with one round',
          unit: 'kB',
          points: measured.map(({ size, bytes_a_session }) => ({ size, cost: bytes_a_session / 1000 })),
        },
      ]),
    ],
    notes: ['Query plans with times: bench/results/sessions-plans.txt'],
  }
}

function cases(measured: readonly Measured[], share: number, aim?: number): Growth[] {
  const names = [...new Set(measured.flatMap(({ samples }) => [...samples.keys()]))]
  return names.map((name) => {
    const of = measured.filter(({ samples }) => samples.has(name))
    const points = of.map(({ size, samples }) => ({ size, cost: percentile(samples.get(name) ?? [], share) }))
    return { name, unit: 'ms', points, aim }
  })
}

async function measureSize(url: string, size: number, runs: number): Promise<Measured> {
  const sql = connect(url)
  try {
    await migrate(sql)
    const owner = await seedSessions(sql, size)
    await seedRounds(sql, MAX_WITH_ROUND)
    // Where only some have a round, the size says nothing of a session.
    const bytes_a_session = size > MAX_WITH_ROUND ? Number.NaN : (await bytesOnDisk(sql)) / size
    const samples: Samples = new Map()
    for (const [name, work] of readingCases(sql, owner, size)) samples.set(name, await measure(work, runs))
    await measureWrites(sql, owner, runs, samples)
    return { size, samples, bytes_a_session, plans: await explain(url, owner, size) }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

type Work = () => Promise<unknown>

function readingCases(sql: Sql, owner: number, size: number): [name: string, work: Work][] {
  return [
    ['a bare statement, for comparison', () => sql`SELECT 1`],
    ...listCases(owner, size).map(([name, filter]): [string, Work] => [
      name,
      () => listSessions(sql, toFilter(filter)),
    ]),
    ...totalsCases(size).map(([name, selection]): [string, Work] => [name, () => countTotals(sql, selection)]),
    ['users, search', () => listUsers(sql, { page: 1, page_size: 20, search: 'person.17@' })],
    ['users, search without a match', () => listUsers(sql, { page: 1, page_size: 20, search: 'zzqq' })],
    ['detail of a session', detailOfAny(sql, size)],
  ]
}

/** Reads the detail of another session each time, as the database has it (nothing is cached). */
function detailOfAny(sql: Sql, size: number): Work {
  let turn = 0
  const context = { ...contextOf(sql), storage: { presign: async (key: string) => key } as Context['storage'] }
  return async () => {
    const id = size - ((turn++ * 7919) % Math.min(size, MAX_WITH_ROUND))
    const [session] = await sql<{ uuid: string }[]>`SELECT uuid FROM sessions WHERE id = ${id}`
    const found = await loadAggregate(context, session?.uuid ?? '', { includeHistory: true })
    if (found?.rounds.length !== 1) throw new Error(`session ${id} has no round`)
  }
}

const contextOf = (sql: Sql) => ({
  sql,
  cache: memoryCache(),
  log: createLogger({ write: () => {} }),
  now: () => new Date(),
  queue: { enqueue: async () => {}, healthy: async () => true } as Context['queue'],
})

/** Measures a round without the queue: accepted, claimed, ten statuses, ended. */
async function measureWrites(sql: Sql, owner: number, runs: number, samples: Samples): Promise<void> {
  const context = contextOf(sql)
  const sample = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    let result: T | undefined
    const ms = await timed(async () => {
      result = await work()
    })
    samples.set(name, [...(samples.get(name) ?? []), ms])
    return result as T
  }
  for (let run = 0; run < runs; run++) {
    const uuid = await sample('insert: a session with its first round', () =>
      acceptFirstRound(context, {
        ...{ user_id: owner, repo_uri: `https://github.com/acme/infrastructure-${run % 300}`, iac_path: null },
        ...{ scope_id: 'acme-production', provider: 'aws', mode: 'generate', is_partial: false },
        query: `Create a queue for service ${crypto.randomUUID()} with a dead letter queue, encrypted at rest.`,
      }),
    )
    const [round] = await sql<{ id: number }[]>`
      SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
    const claim = await sample('claim of a round', () => claimForRun(sql, round?.id ?? 0))
    if (!claim) throw new Error(`the round of session ${uuid} cannot be claimed`)
    for (let step = 0; step < 5; step++)
      await sample('change of a status', () => appendStatus(sql, claim, 'generating', `step ${step}`))
    const end = { status: 'completed', message: 'GENERATE', history: [], commit: null, usage: null } as const
    await sample('end of a round', () => finishRound(context, claim, end))
  }
}

async function measure(work: Work, runs: number): Promise<number[]> {
  const samples: number[] = []
  for (let run = -3; run < runs; run++) {
    const ms = await timed(work)
    if (run >= 0) samples.push(ms)
  }
  return samples
}

/** Returns the size of all tables of the platform with their indexes. */
async function bytesOnDisk(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT sum(pg_total_relation_size(oid))::bigint AS bytes FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`
  return row?.bytes ?? Number.NaN
}

async function explain(url: string, owner: number, size: number): Promise<string[]> {
  const texts: string[] = []
  for (const [name, filter] of listCases(owner, size)) {
    const reports = await recordPlans(url, (sql) => listSessions(sql, toFilter(filter)))
    texts.push(`===== ${size} sessions: ${name}`, ...reports, '')
  }
  return texts
}
