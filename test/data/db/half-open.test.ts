import { afterEach, beforeEach, expect, it } from 'vitest'
import { connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { eventually } from '../../helpers/eventually.ts'
import { provideDatabase } from '../../helpers/postgres.ts'
import { type Relay, startRelay } from '../../helpers/relay.ts'

const db = provideDatabase()
/** Short, so that no test waits long, and long beside what a statement takes on a busy machine. */
const TIMES = { doubtMs: 600, beatMs: 600 }
let relay: Relay
let sql: Sql
beforeEach(async () => {
  await db.sql`DROP TABLE IF EXISTS facts`
  await db.sql`CREATE TABLE facts (n integer)`
  await db.sql`INSERT INTO facts VALUES (1)`
  relay = await startRelay(Number(new URL(db.url).port))
  sql = connect(relay.before(db.url), { max: 2, ...TIMES })
})
afterEach(async () => {
  await sql.end({ timeout: 0 })
  relay.close()
})

it('a statement that reads is sent again over another connection', async () => {
  await sql`SELECT 1`
  relay.swallow()
  expect(await sql`SELECT n FROM facts`).toEqual([{ n: 1 }])
})

it('a statement that writes fails, and the ones after it succeed', async () => {
  await Promise.all([sql`SELECT pg_sleep(0.05)`, sql`SELECT 1`])
  relay.swallow()
  await expect(sql`INSERT INTO facts VALUES (2)`).rejects.toMatchObject({ code: 'CONNECTION_DEAD' })
  await sql`INSERT INTO facts VALUES (3)`
  expect(await db.sql`SELECT n FROM facts ORDER BY n`).toEqual([{ n: 1 }, { n: 3 }])
})

it('a transaction fails, and its locks do not stay', async () => {
  const broken = sql.begin(async (tx) => {
    await tx`UPDATE facts SET n = 2`
    relay.swallow()
    await tx`UPDATE facts SET n = 3`
  })
  await expect(broken).rejects.toMatchObject({ code: 'CONNECTION_DEAD' })
  expect(await db.sql`UPDATE facts SET n = n + 10 RETURNING n`).toEqual([{ n: 11 }])
})

it('a server that is out of reach for a while is found again', async () => {
  const hasty = connect(`${relay.before(db.url)}?connect_timeout=1`, { max: 1, patienceMs: 0, ...TIMES })
  await hasty`SELECT 1`
  relay.setReachable(false)
  await expect(hasty`SELECT n FROM facts`).rejects.toMatchObject({ code: 'CONNECTION_DEAD' })
  await expect(hasty`SELECT n FROM facts`).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' })
  relay.setReachable(true)
  expect(await hasty`SELECT n FROM facts`).toEqual([{ n: 1 }])
  await hasty.end({ timeout: 0 })
})

it('a statement that takes long is waited for', async () => {
  expect(await sql`SELECT pg_sleep(1.5), 1 AS one`).toMatchObject([{ one: 1 }])
})

it('notifications arrive again', async () => {
  const heard: string[] = []
  await sql.listen('news', (payload) => heard.push(payload))
  relay.swallow()
  await eventually(async () => {
    await db.sql.notify('news', 'x')
    expect(heard).not.toEqual([])
  })
})
