import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { provideDatabase } from '../../helpers/postgres.ts'
import { type Relay, startRelay } from '../../helpers/relay.ts'

const db = provideDatabase()
let relay: Relay
let sql: Sql
beforeEach(async () => {
  await db.sql`DROP TABLE IF EXISTS facts`
  await db.sql`CREATE TABLE facts (n integer)`
  relay = await startRelay(Number(new URL(db.url).port))
  sql = connect(relay.before(db.url), { max: 1 })
})
afterEach(async () => {
  await sql.end({ timeout: 0 })
  relay.close()
})

const insert = (isThere?: (n: number) => Promise<boolean>) =>
  sql.begin(async (tx) => {
    const [row] = await tx<{ n: number }[]>`INSERT INTO facts VALUES (1) RETURNING n`
    return row?.n ?? 0
  }, isThere)
const facts = async () => (await db.sql`SELECT n FROM facts`).map(({ n }) => n)

describe('a transaction whose COMMIT is not answered', () => {
  it('is done if the server has committed it', async () => {
    const cut = relay.cutAt('COMMIT', true)
    expect(await insert()).toBe(1)
    await cut
    expect(await facts()).toEqual([1])
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
  })

  it('fails if COMMIT did not reach the server, and is not repeated', async () => {
    const cut = relay.cutAt('COMMIT', false)
    await expect(insert()).rejects.toMatchObject({ code: expect.stringMatching(/^CONNECTION_/) })
    await cut
    expect(await facts()).toEqual([])
    expect(await insert()).toBe(1)
  })

  it('fails if it left nothing, although the server knows its number', async () => {
    relay.cutAt('COMMIT', true)
    await expect(insert(async () => false)).rejects.toMatchObject({ code: expect.stringMatching(/^CONNECTION_/) })
  })

  it.each([
    ['a statement before is cut', 'INSERT'],
    ['its begin is cut', 'BEGIN'],
  ])('and one whose commit was never sent: %s', async (_, word) => {
    const cut = relay.cutAt(word, true)
    const ended = insert().then(
      () => 'done',
      () => 'failed',
    )
    await cut
    // To begin is repeated.
    expect(await ended).toBe(word === 'BEGIN' ? 'done' : 'failed')
    expect(await facts()).toEqual(word === 'BEGIN' ? [1] : [])
  })
})
