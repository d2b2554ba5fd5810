import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { provideDatabase } from '../../helpers/postgres.ts'

let sql: Sql
const db = provideDatabase()
beforeAll(async () => {
  sql = connect(db.url, { max: 4 })
  await db.sql`CREATE TABLE notes (text text)`
})
beforeEach(() => db.sql`TRUNCATE notes`)
afterAll(() => sql.end({ timeout: 1 }))

const notes = async () => (await db.sql`SELECT text FROM notes ORDER BY text`).map((row) => row.text)
/** Ends all connections to the database except those of the test itself. */
const cutAll = (admin: Sql) => admin`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`

describe('a transaction', () => {
  it('commits what it did and answers the result', async () => {
    expect(await sql.begin(async (tx) => (await tx`INSERT INTO notes VALUES ('a') RETURNING text`)[0])).toEqual({
      text: 'a',
    })
    expect(await notes()).toEqual(['a'])
  })

  it('undoes everything when it throws, and gives its connection back', async () => {
    for (let times = 0; times < 10; times++) {
      const failing = sql.begin(async (tx) => {
        await tx`INSERT INTO notes VALUES ('lost')`
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
    }
    expect(await notes()).toEqual([])
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
  })

  it('is not taken for done when a statement failed and nobody minded', async () => {
    const careless = sql.begin(async (tx) => {
      await tx`INSERT INTO notes VALUES ('lost')`
      await tx`SELECT 1 / 0`.catch(() => {})
    })
    await expect(careless).rejects.toThrow('rolled back')
    expect(await notes()).toEqual([])
  })

  it('undoes a part when that is marked', async () => {
    await sql.begin(async (tx) => {
      await tx`INSERT INTO notes VALUES ('kept')`
      const part = tx.savepoint(async (inner) => {
        await inner`INSERT INTO notes VALUES ('lost')`
        await inner`SELECT 1 / 0`
      })
      await expect(part).rejects.toThrow('division by zero')
      await tx`INSERT INTO notes VALUES ('kept too')`
    })
    expect(await notes()).toEqual(['kept', 'kept too'])
  })

  it('takes the mode that was asked for', async () => {
    const write = sql.begin('READ ONLY', (tx) => tx`INSERT INTO notes VALUES ('x')`)
    await expect(write).rejects.toThrow('read-only transaction')
  })
})

describe('a connection that breaks', () => {
  it('fails its transaction only, and the pool goes on at once', async () => {
    const broken = sql.begin(async (tx) => {
      await tx`INSERT INTO notes VALUES ('lost')`
      const [row] = await tx`SELECT pg_backend_pid() AS pid`
      await Promise.all([tx`SELECT pg_sleep(30)`, db.sql`SELECT pg_terminate_backend(${row?.pid})`])
    })
    await expect(broken).rejects.toThrow()
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sql.begin((tx) => tx`SELECT ${index}::int AS index`)),
    )
    expect(results.map(([row]) => row?.index)).toEqual(Array.from({ length: 20 }, (_, index) => index))
    expect(await notes()).toEqual([])
  })

  it('is replaced, however often and in whatever moment all are cut', async () => {
    const admin = connect(db.url, { max: 1 })
    const outcomes: PromiseSettledResult<unknown>[] = []
    for (let times = 0; times < 15; times++) {
      const work = Array.from({ length: 30 }, (_, index) =>
        index % 2 ? sql`SELECT ${index}::int` : sql.begin((tx) => tx`SELECT ${index}::int`.then(() => tx`SELECT 1`)),
      )
      const settled = Promise.allSettled(work)
      await cutAll(admin)
      outcomes.push(...(await settled))
    }
    await admin.end()
    // What only reads is read again; a transaction that had begun is lost.
    expect(outcomes.filter(({ status }, index) => index % 2 && status === 'rejected')).toEqual([])
    const after = await Promise.all(Array.from({ length: 20 }, () => sql.begin((tx) => tx`SELECT 1 AS one`)))
    expect(after.flat()).toEqual(Array.from({ length: 20 }, () => ({ one: 1 })))
  })

  it('listens again', async () => {
    const again = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<string>()
    let times = 0
    await sql.listen('durable', heard.resolve, () => {
      if (++times === 2) again.resolve()
    })
    const admin = connect(db.url, { max: 1 })
    await cutAll(admin)
    await again.promise
    await admin`SELECT pg_notify('durable', 'after')`
    expect(await heard.promise).toBe('after')
    await admin.end()
  })
})
