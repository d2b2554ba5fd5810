import { loadConfig } from '../../config/load.ts'
import { type RetentionContext, removeOldSessions } from '../../pipeline/retention.ts'
import { migrate } from '../../src/data/db/migrate.ts'
import { connect } from '../../src/data/db/pool.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { acceptFirstRound } from '../../src/rounds/accept.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { quantiles, type Section, timed } from '../lib/report.ts'
import { withPostgres } from '../lib/stack.ts'
import { seedSessions } from '../seed-sessions.ts'
import { seedRounds } from './seed-rounds.ts'
import { contextOf } from './sessions.ts'

/** Objects of a session in the store, which is one of memory here: what is measured is the database. */
const OBJECTS = 14

/** Removes all but the youngest sessions, and measures what lists and new sessions take before and meanwhile. */
export async function benchRetention(options: { sessions: number; runs: number }): Promise<Section> {
  return await withPostgres(async (url) => {
    const sql = connect(url)
    try {
      await migrate(sql)
      const owner = await seedSessions(sql, options.sessions)
      await seedRounds(sql, options.sessions)
      // Of these nobody has to be asked whether they are open.
      await sql`DELETE FROM pull_requests`
      const before = await measure(sql, owner, (run) => run < options.runs)
      const rows = await countRows(sql)
      let removed: { sessions: number; objects: number } | null = null
      const started = performance.now()
      const removal = removeOldSessions(await contextOfRemoval(sql), new AbortController().signal).then((result) => {
        removed = result
      })
      const during = await measure(sql, owner, () => removed === null)
      await removal
      const seconds = (performance.now() - started) / 1000
      const sessions = (removed as { sessions: number } | null)?.sessions ?? 0
      const gone = rows - (await countRows(sql)) + during.accepted * ROWS_OF_A_NEW_SESSION
      return {
        title: `Removal of ${sessions.toLocaleString('en')} of ${options.sessions.toLocaleString('en')} sessions`,
        figures: [
          { name: 'sessions removed', value: sessions / seconds, unit: '/s' },
          { name: 'rows removed', value: gone / seconds, unit: '/s' },
          ...quantiles('list before', before.lists),
          ...quantiles('list meanwhile', during.lists, { p99: 50 }),
          ...quantiles('new session before', before.inserts),
          ...quantiles('new session meanwhile', during.inserts, { p99: 50 }),
        ],
        notes: ['Half of the time is the pause after each batch. The object store is one of memory.'],
      }
    } finally {
      await sql.end({ timeout: 1 })
    }
  })
}

/** In sessions, rounds, statuses, workspaces, engine_providers, histories, session_search. */
const ROWS_OF_A_NEW_SESSION = 7

async function contextOfRemoval(sql: Sql): Promise<RetentionContext> {
  const variables = { PLATFORM_SQL_DATABASE_URL: 'postgresql://bench@127.0.0.1:1/none', PLATFORM_IAC_TOKEN: 'none' }
  const config = await loadConfig({ ...variables, ANTHROPIC_API_KEY: 'none' }, async () => 'retention: { days: 1 }')
  const listed = new Set<string>()
  const storage = {
    list: async (prefix: string) => {
      if (listed.has(prefix)) return []
      listed.add(prefix)
      return Array.from({ length: OBJECTS }, (_, index) => `${prefix}${index}`)
    },
    delete: async () => {},
  } as Partial<RetentionContext['storage']> as RetentionContext['storage']
  return { ...contextOf(sql), config, storage, fetch }
}

async function measure(sql: Sql, owner: number, goesOn: (run: number) => boolean) {
  const [lists, inserts]: [number[], number[]] = [[], []]
  const context = contextOf(sql)
  for (let run = 0; goesOn(run); run++) {
    lists.push(
      await timed(() => listSessions(sql, { page: 1, page_size: 20, ...(run % 2 === 0 && { owner_id: owner }) })),
    )
    const session = {
      ...{ user_id: owner, repo_uri: 'https://github.com/acme/infrastructure-1', iac_path: null },
      ...{ scope_id: 'acme-production', provider: 'aws' as const, mode: 'generate' as const, is_partial: false },
      query: 'Add a queue',
    } as const
    inserts.push(await timed(() => acceptFirstRound(context, session)))
  }
  return { lists, inserts, accepted: inserts.length }
}

/** Counts the rows of all tables, without the audit and what remembers the removal. */
async function countRows(sql: Sql): Promise<number> {
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND relname NOT IN ('audit_records', 'removed_sessions', 'session_counts')`
  let rows = 0
  for (const { name } of tables) {
    const [counted] = await sql<{ n: number }[]>`SELECT count(*) AS n FROM ${sql(name)}`
    rows += counted?.n ?? 0
  }
  return rows
}
