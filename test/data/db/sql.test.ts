import { describe, expect, it } from 'vitest'
import { compile, type Value } from '../../../src/data/db/sql.ts'
import { provideDatabase } from '../../helpers/postgres.ts'

const db = provideDatabase()

describe('a statement', () => {
  it('numbers its values through all its parts', () => {
    const { sql } = db
    const inner = sql`b = ${2} OR c IN (${sql`SELECT ${'three'}`})`
    expect(compile(sql`SELECT ${1} WHERE ${inner} AND d = ${4}`.template)).toEqual({
      text: 'SELECT $1 WHERE b = $2 OR c IN (SELECT $3) AND d = $4',
      values: [1, 2, 'three', 4],
    })
  })

  it('quotes names', () => {
    expect(compile(db.sql`SELECT * FROM ${db.sql('a"; DROP TABLE users; --')}`.template).text).toBe(
      'SELECT * FROM "a""; DROP TABLE users; --"',
    )
  })

  it('runs once, when it is awaited', async () => {
    const insert = db.sql`INSERT INTO users (issuer, subject) VALUES ('i', 'once') RETURNING id`
    expect(await db.sql`SELECT 1 FROM users WHERE subject = 'once'`).toHaveLength(0)
    const [first, again] = await Promise.all([insert, insert])
    expect(first).toBe(again)
    expect(await db.sql`SELECT 1 FROM users WHERE subject = 'once'`).toHaveLength(1)
  })

  it.each([
    'text with \'quotes\', "more" and \\',
    '',
    0,
    -1.5,
    true,
    false,
    null,
    ['a', 'b,c', '"d"', '{e}', 'NULL', ''],
    [],
  ])('carries %j there and back', async (value: Value) => {
    const types: Record<string, string> = { string: 'text', number: 'float8', boolean: 'boolean', object: 'text[]' }
    const [row] = await db.sql.unsafe(`SELECT $1::${types[typeof value]} AS value`, [value])
    expect(row?.value).toEqual(value)
    const [tagged] = await db.sql`SELECT ${JSON.stringify({ value })}::jsonb AS document`
    expect(tagged?.document).toEqual({ value })
  })

  it('takes a moment as what it is', async () => {
    const [row] = await db.sql`SELECT ${new Date('2025-06-01T10:00:00.123Z')}::timestamptz AS moment`
    expect(row?.moment).toBe('2025-06-01T10:00:00.123000Z')
  })

  it('says how many rows it changed', async () => {
    const result = await db.sql`UPDATE users SET email = 'x' WHERE false`
    expect([result.count, result.command]).toEqual([0, 'UPDATE'])
  })

  it('rejects an undefined value instead of storing nothing', async () => {
    const row: Record<string, string> = {}
    // An undefined value that the types do not catch.
    await expect(db.sql`SELECT ${row.missing as string}`).rejects.toThrow('undefined is not a value')
  })

  it('runs several in one text', async () => {
    expect(await db.sql`SELECT 1 AS n; SELECT 2 AS n`.simple()).toEqual([{ n: 1 }, { n: 2 }])
    expect(() => db.sql`SELECT ${1}; SELECT 2`.simple()).toThrow('several statements take no values')
  })
})
