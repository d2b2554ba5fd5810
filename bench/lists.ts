import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../dev/postgres.ts'
import { migrate } from '../src/data/db/migrate.ts'
import { connect } from '../src/data/db/pool.ts'
import type { Sql } from '../src/data/db/types.ts'
import { listSessions, type SessionFilter } from '../src/sessions/list.ts'
import { projectRoot } from './lib/process.ts'
import type { Figure, Section } from './lib/report.ts'
import { percentile } from './lib/statistics.ts'
import { recordPlans } from './lists/plans.ts'
import { seedSessions } from './lists/seed.ts'

type Case = [name: string, filter: Omit<SessionFilter, 'page' | 'page_size'> & { page?: number }, aim_ms?: number]

const AIM_MS = 20
const casesFor = (ownerId: number, sessions: number): Case[] => [
  ['own, first page', { owner_id: ownerId }, AIM_MS],
  ['own, status', { owner_id: ownerId, status: 'failed' }, AIM_MS],
  ['own, search for a word', { owner_id: ownerId, search: 'database' }, AIM_MS],
  ['own, search for two letters', { owner_id: ownerId, search: 'vp' }, AIM_MS],
  ['all, first page', {}, AIM_MS],
  ['all, operation', { operation: 'drift' }, AIM_MS],
  ['all, rare status', { status: 'apply' }, AIM_MS],
  ['all, owner by e-mail', { user_email: 'person.17@' }, AIM_MS],
  ['all, search for a word that one in seven has', { search: 'database' }, AIM_MS],
  ['all, search for a repository', { search: 'acme/infrastructure-17' }, AIM_MS],
  ['all, search for what everyone has', { search: 'https://github.com' }, AIM_MS],
  ['all, search for part of an id', { search: 'a1b2' }, AIM_MS],
  ['all, search without a match', { search: 'zzqq' }, AIM_MS],
  ['all, search and status', { search: 'bucket', status: 'failed' }, AIM_MS],
  ['all, search for one letter', { search: 'e' }, AIM_MS],
  ['all, search for two letters that nobody has', { search: 'vp' }],
  ['all, page in the middle', { page: Math.floor(sessions / 40) }],
]

/** Measures the function behind both session lists, count included, with growing numbers of sessions. */
export async function benchLists(options: { sizes: readonly number[]; runs: number }): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'))
  const server = await startPostgres({ data_dir: join(folder, 'postgres') })
  const sql = connect(server.url)
  const figures: Figure[] = []
  const plans: string[] = []
  try {
    await migrate(sql)
    for (const size of options.sizes) {
      const owner = await seedSessions(sql, size)
      for (const one of casesFor(owner, size)) figures.push(...(await measure(sql, size, one, options.runs)))
      plans.push(...(await explain(server.url, owner, size)))
    }
  } finally {
    await sql.end({ timeout: 1 })
    await server.stop()
    await rm(server.data_dir, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  }
  const results = join(projectRoot, 'bench/results')
  await mkdir(results, { recursive: true })
  await writeFile(join(results, 'lists-plans.txt'), plans.join('\n'))
  return {
    title: 'Session lists (pages of 20, total included)',
    figures,
    notes: [
      'Plans with times: bench/results/lists-plans.txt',
      'Two letters and fewer have no index: all texts are read.',
    ],
  }
}

const toFilter = ({ page = 1, ...filter }: Case[1]): SessionFilter => ({ ...filter, page, page_size: 20 })

async function measure(sql: Sql, size: number, [name, filter, aim]: Case, runs: number): Promise<Figure[]> {
  const samples: number[] = []
  for (let run = -3; run < runs; run++) {
    const started = performance.now()
    await listSessions(sql, toFilter(filter))
    if (run >= 0) samples.push(performance.now() - started)
  }
  const label = `${size.toLocaleString('en')}: ${name}`
  return [
    { name: `${label}, p50`, value: percentile(samples, 0.5), unit: 'ms', ...(aim === undefined ? {} : { aim }) },
    { name: `${label}, p99`, value: percentile(samples, 0.99), unit: 'ms' },
  ]
}

async function explain(url: string, owner: number, size: number): Promise<string[]> {
  const texts: string[] = []
  for (const [name, filter] of casesFor(owner, size)) {
    const reports = await recordPlans(url, (sql) => listSessions(sql, toFilter(filter)))
    texts.push(`===== ${size} sessions: ${name}`, ...reports, '')
  }
  return texts
}
