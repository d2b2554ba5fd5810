import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { migrate } from '../src/data/db/migrate.ts'
import { connect } from '../src/data/db/pool.ts'
import type { Sql } from '../src/data/db/sql.ts'
import { listSessions, type SessionFilter } from '../src/sessions/list.ts'
import type { SessionSelection } from '../src/sessions/lists/matches.ts'
import { countTotals } from '../src/sessions/lists/totals.ts'
import { type Figure, quantiles, type Section, timed } from './lib/report.ts'
import { withPostgres } from './lib/stack.ts'
import { seedSessions } from './seed-sessions.ts'

type Case = [name: string, filter: Omit<SessionFilter, 'page' | 'page_size'> & { page?: number }, aim_ms?: number]

const AIM_MS = 20
const FILTER_AIM_MS = 10
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
  ['own, by last activity', { owner_id: ownerId, sort: 'last_activity' }, FILTER_AIM_MS],
  ['own, cloud and mode', { owner_id: ownerId, cloud: 'gcp', mode: 'apply' }, FILTER_AIM_MS],
  ['all, by last activity', { sort: 'last_activity' }, FILTER_AIM_MS],
  ['all, cloud', { cloud: 'aws' }, FILTER_AIM_MS],
  ['all, rare cloud', { cloud: 'oci' }, FILTER_AIM_MS],
  ['all, rare cloud, mode and status', { cloud: 'oci', mode: 'generate', status: 'failed' }, FILTER_AIM_MS],
  ['all, mode by last activity', { mode: 'import', sort: 'last_activity' }, FILTER_AIM_MS],
  ['all, locked', { locked: true }, FILTER_AIM_MS],
  ['all, not locked, page 10', { locked: false, page: 10 }, FILTER_AIM_MS],
  ['all, repository', { repo_uri: 'https://github.com/Acme/infrastructure-17' }, FILTER_AIM_MS],
  ['all, repository and mode by last activity', OF_REPOSITORY, FILTER_AIM_MS],
  ['all, last 30 days', { created_after: daysAgo(30) }, FILTER_AIM_MS],
  ['all, before 1 day ago', { created_before: daysAgo(1) }, FILTER_AIM_MS],
  ['all, a month in the middle by last activity', midPeriod(sessions), FILTER_AIM_MS],
  ['all, half of the time, cloud and locked', { ...midPeriod(sessions, 0.5), ...LOCKED_GCP }, FILTER_AIM_MS],
  ['all, search, cloud and mode', { search: 'acme/infrastructure-17', cloud: 'aws', mode: 'apply' }],
]
const LOCKED_GCP = { cloud: 'gcp', locked: true, sort: 'created' } as const
const REPOSITORY = 'https://github.com/acme/infrastructure-17'
const OF_REPOSITORY = { repo_uri: REPOSITORY, mode: 'drift', sort: 'last_activity' } as const

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().replace('Z', '000Z')

/** Returns a period around the middle of the seeded time: 30 days, or this share of it. */
function midPeriod(sessions: number, share?: number) {
  const days = (sessions * 3) / (24 * 60)
  const half = (share === undefined ? Math.min(30, days / 2) : days * share) / 2
  const [created_after, created_before] = [daysAgo(days / 2 + half), daysAgo(days / 2 - half)]
  return { created_after, created_before, sort: 'last_activity' } as const
}

type TotalsCase = [name: string, selection: SessionSelection]
const totalsCasesFor = (sessions: number): TotalsCase[] => [
  ['summary of all', {}],
  ['summary of a cloud, not locked', { cloud: 'aws', locked: false }],
  ['summary of one owner by e-mail', { user_email: 'person.17@' }],
  ['summary of a repository', { repo_uri: REPOSITORY }],
  ['summary of half of the time', (({ sort: _, ...period }) => period)(midPeriod(sessions, 0.5))],
]

/** Measures the function behind both session lists, count included, with growing numbers of sessions. */
export async function benchLists(options: { sizes: readonly number[]; runs: number }): Promise<Section> {
  const figures: Figure[] = []
  const plans: string[] = []
  await withPostgres(async (url) => {
    const sql = connect(url)
    await migrate(sql)
    for (const size of options.sizes) {
      const owner = await seedSessions(sql, size)
      const label = (name: string) => `${size.toLocaleString('en')}: ${name}`
      for (const [name, filter, aim] of casesFor(owner, size))
        figures.push(...(await measure(label(name), () => listSessions(sql, toFilter(filter)), options.runs, aim)))
      for (const [name, selection] of totalsCasesFor(size))
        figures.push(...(await measure(label(name), () => countTotals(sql, selection), options.runs, FILTER_AIM_MS)))
      plans.push(...(await explain(url, owner, size)))
    }
    await sql.end({ timeout: 1 })
  })
  const results = join(PROJECT_ROOT, 'bench/results')
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

async function measure(label: string, work: () => Promise<unknown>, runs: number, aim?: number): Promise<Figure[]> {
  const samples: number[] = []
  for (let run = -3; run < runs; run++) {
    const ms = await timed(work)
    if (run >= 0) samples.push(ms)
  }
  return quantiles(label, samples, { p50: aim })
}

async function explain(url: string, owner: number, size: number): Promise<string[]> {
  const texts: string[] = []
  for (const [name, filter] of casesFor(owner, size)) {
    const reports = await recordPlans(url, (sql) => listSessions(sql, toFilter(filter)))
    texts.push(`===== ${size} sessions: ${name}`, ...reports, '')
  }
  return texts
}

/** Runs `work` with a pool whose server reports plan and times of every statement. Returns the reports in order. */
async function recordPlans(url: string, work: (sql: Sql) => Promise<unknown>): Promise<string[]> {
  const setup = connect(url, { max: 1 })
  const [name] = await setup<{ name: string }[]>`SELECT current_database() AS name`
  const database = setup(name?.name ?? '')
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    client_min_messages: 'log',
  }
  const reports: string[] = []
  for (const [key, value] of Object.entries(settings))
    await setup.unsafe(`ALTER DATABASE "${database.identifier}" SET ${key} = '${value}'`)
  const explained = connect(url, { max: 1, onnotice: (notice) => reports.push(String(notice.message)) })
  try {
    await work(explained)
    return reports.filter((report) => report.includes('plan:'))
  } finally {
    await explained.end({ timeout: 1 })
    for (const key of Object.keys(settings)) await setup.unsafe(`ALTER DATABASE "${database.identifier}" RESET ${key}`)
    await setup.end({ timeout: 1 })
  }
}
