import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { migrate } from '../../../src/data/db/migrate.ts'
import { connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { claimOf, createSession, verbContext } from '../../sessions/fixtures.ts'
import { freePort } from '../../suites/world/tools/service.ts'
import { findPrograms, startDebianPostgres } from './debian-postgres.ts'
import { dumpSchema } from './schema-dump.ts'

const programs = await findPrograms()

/** Every table with a hash of all of its rows. */
async function contentOf(sql: Sql): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`
  const hashes = tables.map(async ({ name }): Promise<[string, string]> => {
    const [row] = await sql<{ rows: number; hash: string }[]>`
      SELECT count(*)::int AS rows, md5(coalesce(string_agg(t::text, chr(10) ORDER BY t::text), '')) AS hash
      FROM ${sql(name)} t`
    return [name, `${row?.rows} ${row?.hash}`]
  })
  return Object.fromEntries(await Promise.all(hashes))
}

describe.skipIf(programs === null)('a backup by pg_dump, as docs/backup.md has it', () => {
  const server = startOnce(async () => startDebianPostgres(programs ?? '', await freePort()))
  const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const create = async (name: string) => {
    const admin = connect(server.url, { max: 1 })
    await admin`CREATE DATABASE ${admin(name)}`
    await admin.end()
    return connect(urlOf(name), { max: 4 })
  }

  it('holds every row, rule and step, and a restored database goes on', async () => {
    const source = await create('source')
    await migrate(source)
    const context = verbContext({ sql: source })
    for (let index = 0; index < 20; index++) await createSession(context, { query: `request ${index} — ü 漢字 %_` })
    const running = await createSession(context)
    await claimOf(source, running)
    const file = join(tmpdir(), `platform-${crypto.randomUUID()}.dump`)
    try {
      // A transaction that is open meanwhile is not waited for, and none of it is in the backup.
      await source
        .begin(async (tx) => {
          await tx`INSERT INTO users (issuer, subject) VALUES ('https://issuer.example', 'not yet there')`
          await server.program('pg_dump', ['--format=custom', `--file=${file}`, urlOf('source')])
          throw new Error('taken back')
        })
        .catch((error: Error) => expect(error.message).toBe('taken back'))
      const target = await create('target')
      const flags = ['--exit-on-error', '--no-owner', '--single-transaction']
      await server.program('pg_restore', [...flags, `--dbname=${urlOf('target')}`, file])

      expect(await contentOf(target)).toEqual(await contentOf(source))
      // A condition that was read from its own text has fewer brackets: `a OR (b OR c)` is one list.
      const schemaOf = async (sql: Sql) => (await dumpSchema(sql)).replaceAll(/[()]/g, '')
      expect(await schemaOf(target)).toBe(await schemaOf(source))

      const before = await dumpSchema(target)
      await migrate(target)
      expect(await dumpSchema(target)).toBe(before)
      await expect(target`DELETE FROM audit_records`).rejects.toThrow()
      // Numbers that the database gives out go on behind the restored rows.
      await createSession(verbContext({ sql: target }), { query: 'after the restore' })
      expect(await target`SELECT count(*)::int AS n FROM sessions`).toEqual([{ n: 22 }])
      const newest = async (sql: Sql) =>
        (await sql<{ id: number }[]>`SELECT max(id)::int AS id FROM audit_records`)[0]?.id
      expect(await newest(target)).toBeGreaterThan((await newest(source)) ?? 0)
      await Promise.all([source.end(), target.end()])
    } finally {
      await rm(file, { force: true })
    }
  })
})
