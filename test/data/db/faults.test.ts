import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { remedyOf } from '../../../src/data/db/faults.ts'
import { type ConnectOptions, connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { provideDatabase } from '../../helpers/postgres.ts'

const run = promisify(execFile)
const db = provideDatabase()
const pools: Sql[] = []
afterEach(() => Promise.all(pools.splice(0).map((sql) => sql.end({ timeout: 1 }))))
const pool = (url = db.url, options: ConnectOptions = {}) => {
  const sql = connect(url, options)
  pools.push(sql)
  return sql
}
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

it.each([
  ['no rights', 'give_up', (sql: Sql) => sql`SET ROLE nobody_has_this`],
  ['a wrong statement', 'give_up', (sql: Sql) => sql`SELECT 1 / 0`],
  ['a read-only transaction', 'connect_anew', (sql: Sql) => sql.begin('READ ONLY', (tx) => tx`CREATE TABLE t ()`)],
  [
    'an ended session',
    'connect_anew',
    (sql: Sql) => sql.begin((tx) => tx`SELECT pg_terminate_backend(pg_backend_pid())`),
  ],
  ['no server', 'connect_anew', () => pool('postgresql://nobody@127.0.0.1:1/none', { patienceMs: 0 })`SELECT 1`],
  ['no such database', 'give_up', () => pool(db.url.replace(/[^/]+$/, 'none'), { patienceMs: 0 })`SELECT 1`],
  [
    'a lock that is not to be had',
    'wait',
    (sql: Sql) =>
      sql.begin(async (tx) => {
        await tx`LOCK TABLE users`
        await sql.begin((other) => other`LOCK TABLE users NOWAIT`)
      }),
  ],
] as const)('%s means: %s', async (_, remedy, work) => {
  expect(remedyOf(await errorOf(work(pool())))).toBe(remedy)
})

it('the socket of another client says nothing about the database', () => {
  expect(remedyOf(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))).toBe('give_up')
})

describe('too many connections', () => {
  it('are waited for, and the statement is carried out once', async () => {
    const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
    await db.sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'word' CONNECTION LIMIT 1`)
    await db.sql.unsafe(`CREATE TABLE visits (id int); GRANT ALL ON visits TO ${role}`)
    const url = Object.assign(new URL(db.url), { username: role, password: 'word' }).href
    const first = pool(url)
    await first`SELECT 1`
    expect(remedyOf(await errorOf(pool(url, { patienceMs: 0 })`SELECT 1`))).toBe('wait')
    const second = pool(url)
    const visit = second`INSERT INTO visits VALUES (1)`.then(() => {})
    await first.end()
    await visit
    expect(await db.sql`SELECT id FROM visits`).toEqual([{ id: 1 }])
    await second.end()
    await db.sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
})

describe('a full disk', () => {
  it('is waited for, and the statement is carried out once when there is room', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'full-disk-'))
    const [row] = await db.sql`SELECT current_setting('data_directory') AS path`
    const { uid, gid } = await stat(String(row?.path))
    const mounted = await run('mount', [
      '-t',
      'tmpfs',
      '-o',
      `size=4m,uid=${uid},gid=${gid},mode=700`,
      'tmpfs',
      folder,
    ]).then(
      () => true,
      () => false,
    )
    const name = `small_${crypto.randomUUID().replaceAll('-', '')}`
    try {
      if (!mounted) return test.skip('no file system of a limited size can be mounted here')
      await run('chmod', ['711', folder])
      await db.sql.unsafe(`CREATE TABLESPACE ${name} LOCATION '${folder}'`)
      await db.sql.unsafe(
        `CREATE TABLE ballast (text text) TABLESPACE ${name}; CREATE TABLE kept (text text) TABLESPACE ${name}`,
      )
      const impatient = pool(db.url, { patienceMs: 0 })
      const full = await errorOf(
        impatient`INSERT INTO ballast SELECT repeat(md5(i::text), 60) FROM generate_series(1, 10000) AS i`,
      )
      expect([remedyOf(full), full]).toEqual(['wait', expect.objectContaining({ code: '53100' })])
      const large = 'x'.repeat(1_000)
      expect(remedyOf(await errorOf(fill(impatient, large)))).toBe('wait')
      let tries = 0
      const again = Promise.withResolvers<void>()
      const patient = pool(db.url, { onstatement: () => void (++tries === 2 && again.resolve()) })
      const waiting = patient`INSERT INTO kept SELECT ${large} FROM generate_series(1, 100)`.then(() => {})
      await Promise.all([waiting, again.promise.then(() => db.sql`DROP TABLE ballast`)])
      expect(await db.sql`SELECT count(*) FROM kept`).toEqual([{ count: 100 }])
    } finally {
      await db.sql.unsafe(`DROP TABLE IF EXISTS ballast, kept`)
      await db.sql.unsafe(`DROP TABLESPACE IF EXISTS ${name}`)
      if (mounted) await run('umount', ['-l', folder])
      await rm(folder, { recursive: true, force: true })
    }
  })
})

/** Fills the table a page at a time, to the last one. */
async function fill(sql: Sql, text: string): Promise<void> {
  for (;;) await sql`INSERT INTO ballast SELECT ${text} FROM generate_series(1, 50)`
}
