import { beforeEach, describe, expect, it } from 'vitest'
import { createRefusalCounter, sumRefusals, toPrefix } from '../../../src/access/audit/refusals.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { provideDatabase } from '../../helpers/postgres.ts'

const db = provideDatabase()
beforeEach(async () => {
  await db.sql`TRUNCATE sign_in_refusals`
})

const NOW = new Date('2026-03-01T14:25:30Z')
const lines: Record<string, unknown>[] = []
const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
const counterAt = (now = NOW, sql: Sql = db.sql) => createRefusalCounter({ sql, log, now: () => now })
const rows = () => db.sql`SELECT hour, reason, address_prefix, refusals FROM sign_in_refusals ORDER BY 1, 2, 3`

describe('counting', () => {
  it('adds up by hour, reason and network, over several writes and processes', async () => {
    const [one, two] = [counterAt(), counterAt()]
    for (const address of ['203.0.113.7', '203.0.113.8', '2001:db8:1:2::3', null])
      one.count('token has expired', address)
    await one.flush()
    one.count('token has expired', '203.0.113.9')
    two.count('token has expired', '203.0.113.9')
    two.count('Not authenticated', '203.0.113.9')
    await Promise.all([one.flush(), two.flush()])
    await one.flush()
    const hour = '2026-03-01T14:00:00.000000Z'
    expect([...(await rows())]).toEqual([
      { hour, reason: 'Not authenticated', address_prefix: '203.0.113.0/24', refusals: 1 },
      { hour, reason: 'token has expired', address_prefix: '2001:db8:1::/48', refusals: 1 },
      { hour, reason: 'token has expired', address_prefix: '203.0.113.0/24', refusals: 4 },
      { hour, reason: 'token has expired', address_prefix: 'unknown', refusals: 1 },
    ])
  })

  it('keeps a bounded number of rows under a flood from everywhere, and loses no count', async () => {
    const counter = counterAt()
    const networks = (from: number) => {
      for (let n = 0; n < 5_000; n++) counter.count('Not authenticated', `${from}.${n >> 8}.${n & 255}.1`)
    }
    for (const from of [1, 2, 3, 4]) {
      networks(from)
      await counter.flush()
    }
    const found = await rows()
    expect(found.length).toBeLessThanOrEqual(41)
    expect(found.reduce((sum, { refusals }) => sum + refusals, 0)).toBe(20_000)
    expect(found.map(({ address_prefix }) => address_prefix)).toContain('other')
    expect(await sumRefusals(db.sql, { now: NOW })).toMatchObject({
      total: 20_000,
      reasons: [{ reason: 'Not authenticated', refusals: 20_000 }],
      addresses: expect.toSatisfy((list: unknown[]) => list.length === 20),
    })
  })

  it('goes on counting while the database is away', async () => {
    let away = true
    const sql = ((...parts: Parameters<Sql>) =>
      away ? Promise.reject(new Error('away')) : db.sql(...parts)) as unknown as Sql
    const counter = counterAt(NOW, sql)
    counter.count('r', '203.0.113.7')
    await counter.flush()
    counter.count('r', '203.0.113.7')
    away = false
    await counter.flush()
    expect(await rows()).toMatchObject([{ refusals: 2 }])
    expect(lines).toContainEqual(expect.objectContaining({ message: 'refused sign-ins could not be counted yet' }))
  })
})

it.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['::ffff:203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  [null, 'unknown'],
  ['=x', 'unknown'],
])('the network of %s is %s', (address, prefix) => {
  expect(toPrefix(address)).toBe(prefix)
})

describe('the sums', () => {
  it('cover a day by default, else from `after` until `before`, 31 days at most', async () => {
    for (const day of ['2026-01-01', '2026-02-10', '2026-02-28', '2026-03-01']) {
      const counter = counterAt(new Date(`${day}T14:10:00Z`))
      counter.count(day, '203.0.113.7')
      await counter.flush()
    }
    const reasons = async (options: { after?: string; before?: string }) =>
      (await sumRefusals(db.sql, { ...options, now: NOW })).reasons.map(({ reason }) => reason).sort()
    expect(await reasons({})).toEqual(['2026-02-28', '2026-03-01'])
    expect(await reasons({ after: '2026-03-01T00:00:00Z' })).toEqual(['2026-03-01'])
    expect(await reasons({ after: '2020-01-01T00:00:00Z' })).toEqual(['2026-02-10', '2026-02-28', '2026-03-01'])
    expect(await reasons({ before: '2026-01-01T15:00:00Z' })).toEqual(['2026-01-01'])
    expect(await reasons({ after: '2026-03-01T00:00:00Z', before: '2026-01-01T15:00:00Z' })).toEqual([])
  })
})
