import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../../src/data/db/migrate.ts'
import { connect } from '../../../src/data/db/pool.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

async function emptyDatabase(): Promise<string> {
  const name = `empty_${crypto.randomUUID().replaceAll('-', '')}`
  await db.sql`CREATE DATABASE ${db.sql(name)}`
  const url = new URL(db.url)
  url.pathname = `/${name}`
  return url.href
}

const tablesOf = async (sql: TestDatabase['sql']) =>
  (
    await sql<
      { name: string }[]
    >`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`
  ).map((row) => row.name)

describe('migrate', () => {
  it('creates the tables on an empty database once, however many processes start together', async () => {
    const pools = Array.from({ length: 6 }, () => ({ url: '' }))
    const url = await emptyDatabase()
    const connections = pools.map(() => connect(url, { max: 1 }))
    await Promise.all(connections.map((sql) => migrate(sql)))
    const [first] = connections
    if (!first) throw new Error('no connection')
    expect(await tablesOf(first)).toEqual([
      'applies',
      'artifacts',
      'audit_records',
      'code_changes',
      'compliance_checks',
      'console_files',
      'engine_outputs',
      'engine_plans',
      'engine_providers',
      'histories',
      'previews',
      'project_applies',
      'pull_requests',
      'reports',
      'round_attempts',
      'round_events',
      'round_imports',
      'rounds',
      'saved_plans',
      'schema_steps',
      'searched_repositories',
      'session_counts',
      'session_search',
      'sessions',
      'sign_in_refusals',
      'statuses',
      'users',
      'workspaces',
    ])
    const steps = await first`SELECT number FROM schema_steps ORDER BY number`
    expect(steps.map((row) => row.number)).toEqual(steps.map((_, index) => index + 1))
    await Promise.all(connections.map((sql) => sql.end()))
  })

  it('keeps the rows when it runs again', async () => {
    await db.sql`INSERT INTO users (issuer, subject) VALUES ('https://issuer.example', 'kept')`
    await migrate(db.sql)
    expect(await db.sql`SELECT subject FROM users WHERE subject = 'kept'`).toHaveLength(1)
  })

  it('knows no reviewed commit of sessions that are older than the column', async () => {
    const sql = connect(await emptyDatabase(), { max: 1 })
    await migrate(sql)
    await sql`ALTER TABLE sessions DROP COLUMN reviewed_commit`
    await sql`DELETE FROM schema_steps WHERE name = 'reviewed commits'`
    await sql`INSERT INTO users (issuer, subject) VALUES ('https://issuer.example', 'owner')`
    const addSession = () => sql`INSERT INTO sessions (user_id, operation) SELECT id, 'generate' FROM users`
    await addSession()
    await migrate(sql)
    await addSession()
    const commits = await sql`SELECT reviewed_commit FROM sessions ORDER BY id`
    expect(commits.map((row) => row.reviewed_commit)).toEqual([null, ''])
    await sql.end()
  })

  it('works without the search extension', async () => {
    const sql = connect(await emptyDatabase(), { max: 1 })
    // A type of that name in the way: the extension cannot be created.
    await sql`CREATE FUNCTION similarity(text, text) RETURNS real LANGUAGE sql AS 'SELECT 1.0::real'`
    await migrate(sql)
    expect(await tablesOf(sql)).toContain('sessions')
    expect(await sql`SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'`).toHaveLength(0)
    await sql.end()
  })

  it('indexes every foreign key', async () => {
    const missing = await db.sql`
      SELECT c.conrelid::regclass::text AS name, a.attname AS column
      FROM pg_constraint c
      JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
      WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND NOT EXISTS (
        SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1] AND i.indpred IS NULL)`
    expect(missing).toEqual([])
  })

  it('refreshes updated_at on every update', async () => {
    const [before] =
      await db.sql`INSERT INTO users (issuer, subject) VALUES ('https://issuer.example', 'fresh') RETURNING *`
    const [after] = await db.sql`UPDATE users SET email = 'a@b.c' WHERE subject = 'fresh' RETURNING *`
    expect(after?.created_at).toBe(before?.created_at)
    expect(after?.updated_at > before?.updated_at).toBe(true)
  })
})
