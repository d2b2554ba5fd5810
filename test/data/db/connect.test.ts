import { describe, expect, it } from 'vitest'
import { toServerAddress } from '../../../src/data/db/connection.ts'
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

  it('rewrites the driver parameters only', () => {
    expect(toServerAddress('postgres://u:p%40@h:1/d?sslmode=verify-ca&application_name=x')).toBe(
      'postgres://u:p%40@h:1/d?application_name=x&ssl=verify-full',
    )
  })

  it.each(['postgresql+asyncpg', 'postgres+psycopg2'])('takes the scheme %s of another driver', (scheme) => {
    expect(toServerAddress(`${scheme}://u:p@h:1/d?ssl=require`)).toMatch(/^postgres(ql)?:\/\/u:p@h:1\/d\?ssl=require$/)
  })

  it.each([
    '',
    'mysql://h/d',
    'postgresql+://h/d',
    'postgresql://h:notaport/d',
    'not a url',
  ])('refuses %j without repeating it', (url) => {
    expect(() => connect(url)).toThrow('the database URL is not valid')
  })

  it('names an unknown sslmode', () => {
    expect(() => connect('postgresql://h/d?sslmode=maybe')).toThrow("sslmode 'maybe' is not known")
  })

  it('refuses a timestamp of another zone rather than guessing', () => {
    expect(() => toFixedTimestamp('2025-01-31 10:20:30+02')).toThrow()
  })
})
