import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { migrate } from '../../../src/data/db/migrate.ts'
import { connect } from '../../../src/data/db/pool.ts'
import { createEmptyDatabase, provideDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { dumpSchema } from './schema-dump.ts'

const db = provideDatabase()

const emptyDatabase = () => createEmptyDatabase(db)

const tablesOf = async (sql: TestDatabase['sql']) =>
  (
    await sql<
      { name: string }[]
    >`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`
  ).map((row) => row.name)

describe('migrate', () => {
  it('creates the tables on an empty database once, however many processes start together', async () => {
    const url = await emptyDatabase()
    const connections = Array.from({ length: 6 }, () => connect(url, { max: 1 }))
    await Promise.all(connections.map((sql) => migrate(sql)))
    const [first] = connections
    if (!first) throw new Error('no connection')
    expect(await tablesOf(first)).toContain('sessions')
    const steps = await first`SELECT number FROM schema_steps ORDER BY number`
    expect(steps.map((row) => row.number)).toEqual(steps.map((_, index) => index + 1))
    await Promise.all(connections.map((sql) => sql.end()))
  })

  it('keeps the rows when it runs again', async () => {
    await db.sql`INSERT INTO users (issuer, subject) VALUES ('https://issuer.example', 'kept')`
    await migrate(db.sql)
    expect(await db.sql`SELECT subject FROM users WHERE subject = 'kept'`).toHaveLength(1)
  })

  it('refuses a database of a development version and changes nothing in it', async () => {
    const sql = connect(await emptyDatabase(), { max: 1 })
    await sql`CREATE TABLE schema_steps (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz)`
    await sql`INSERT INTO schema_steps (number, name) VALUES (1, 'tables'), (2, 'session lists')`
    await expect(migrate(sql)).rejects.toThrow('made by a development version from before the first release')
    expect(await tablesOf(sql)).toEqual(['schema_steps'])
    await sql.end()
  })

  it('works without the search extension', async () => {
    const sql = connect(await emptyDatabase(), { max: 1 })
    // A type of that name makes the creation of the extension fail.
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

describe('releases', () => {
  const RELEASES = join(import.meta.dirname, 'releases')
  const dumpOf = async (prepare: (sql: TestDatabase['sql']) => Promise<unknown>) => {
    const sql = connect(await emptyDatabase(), { max: 1 })
    await prepare(sql)
    await migrate(sql)
    const dump = await dumpSchema(sql)
    await sql.end()
    return dump
  }

  // Vitest writes a missing dump, but not in continuous integration. A released one never changes.
  it('has a dump of the newest step, which a new database agrees with', async () => {
    const [newest] = await db.sql<{ number: number }[]>`SELECT max(number) AS number FROM schema_steps`
    const name = `${String(newest?.number).padStart(4, '0')}.sql`
    await expect(await dumpOf(async () => {})).toMatchFileSnapshot(join(RELEASES, name))
  })

  it.each(readdirSync(RELEASES))('upgrades %s to the schema of a new database', async (name) => {
    const dump = await readFile(join(RELEASES, name), 'utf8')
    // The server rewrites some conditions when it parses its own output, so both are parsed once.
    const created = await dumpOf(async () => {})
    expect(await dumpOf((sql) => sql.unsafe(dump))).toBe(await dumpOf((sql) => sql.unsafe(created)))
  })
})
