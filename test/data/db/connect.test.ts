import { describe, expect, it } from 'vitest'
import { connect } from '../../../src/data/db/pool.ts'
import { toFixedTimestamp } from '../../../src/data/db/values.ts'
import { provideDatabase } from '../../helpers/postgres.ts'

const db = provideDatabase()

describe('connect', () => {
  it('reads timestamps in one form that compares as text', async () => {
    const [row] =
      await db.sql`SELECT '2025-01-31T12:20:30+02'::timestamptz AS whole, '2025-01-31T10:20:30.5Z'::timestamptz AS half`
    expect(row?.whole).toBe('2025-01-31T10:20:30.000000Z')
    expect(row?.half).toBe('2025-01-31T10:20:30.500000Z')
    expect(row?.whole < row?.half).toBe(true)
  })

  it('reads 64-bit integers as numbers', async () => {
    const [row] = await db.sql`SELECT count(*) AS n, 9007199254740991::bigint AS large FROM users`
    expect(row).toEqual({ n: 0, large: Number.MAX_SAFE_INTEGER })
  })

  it.each([
    '?sslmode=disable',
    '?sslmode=prefer',
    '?sslmode=allow',
    '?ssl=false',
    '?sslmode=prefer&channel_binding=prefer',
    '',
  ])('connects with %s', async (query) => {
    const sql = connect(db.url + query, { max: 1 })
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await sql.end()
  })

  it('does not fall back to a connection in the clear when encryption is required', async () => {
    const sql = connect(`${db.url}?sslmode=require`, { max: 1 })
    await expect(sql`SELECT 1`).rejects.toThrow()
    await sql.end({ timeout: 0 })
  })

  it('refuses a timestamp of another zone rather than guessing', () => {
    expect(() => toFixedTimestamp('2025-01-31 10:20:30+02')).toThrow()
  })
})
