import { inject } from 'vitest'
import { connect } from '../../src/data/db/pool.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { startOnce } from './start-once.ts'

export interface TestDatabase {
  url: string
  sql: Sql
  drop(): Promise<void>
}

/** Copies the template of this run to a new migrated database. Call `drop` in `afterAll`; it cuts open connections. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await asAdmin((admin) => admin`CREATE DATABASE ${admin(name)} TEMPLATE platform_template`)
  const url = new URL(inject('postgres_url'))
  url.pathname = `/${name}`
  const sql = connect(url.href)
  const drop = async () => {
    await sql.end({ timeout: 1 })
    await asAdmin((admin) => admin`DROP DATABASE IF EXISTS ${admin(name)} WITH (FORCE)`)
  }
  return { url: url.href, sql, drop }
}

/** Creates a database without tables on the same server, and returns its address. */
export async function createEmptyDatabase({ sql, url }: Pick<TestDatabase, 'sql' | 'url'>): Promise<string> {
  const name = `empty_${crypto.randomUUID().replaceAll('-', '')}`
  await sql`CREATE DATABASE ${sql(name)}`
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

/** Provides a database for the tests of a file or `describe`. */
export const provideDatabase = (): Omit<TestDatabase, 'drop'> =>
  startOnce(async () => {
    const { url, sql, drop } = await createTestDatabase()
    return { url, sql, close: drop }
  })

async function asAdmin(work: (admin: Sql) => Promise<unknown>): Promise<void> {
  const admin = connect(inject('postgres_url'), { max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}
