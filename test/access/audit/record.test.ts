import { describe, expect, it } from 'vitest'
import { sweep } from '../../../pipeline/sweeper.ts'
import { listAuditRecords, MOST_COUNTED, readAuditRecords } from '../../../src/access/audit/list.ts'
import { expireAuditRecords, platformFor, recordAudit } from '../../../src/access/audit/record.ts'
import { createLogger } from '../../../src/base/log.ts'
import { configOf } from '../../helpers/core.ts'
import { memoryCache } from '../../helpers/memory-cache.ts'
import { provideDatabase } from '../../helpers/postgres.ts'
import { createUser } from '../../helpers/sessions.ts'

const db = provideDatabase()

const DAY_MS = 86_400_000
const signal = new AbortController().signal
const fill = (action: string, count: number, age_days = 0) => db.sql`
  INSERT INTO audit_records (action, actor, at)
  SELECT ${action}, 'platform', clock_timestamp() - make_interval(days => ${age_days}) - n * interval '1 ms'
  FROM generate_series(1, ${count}) AS n`
const countOf = async (action: string) => {
  const [row] = await db.sql<{ n: number }[]>`SELECT count(*) AS n FROM audit_records WHERE action = ${action}`
  return row?.n
}

describe('the table', () => {
  it.each([
    ['UPDATE', `UPDATE audit_records SET actor = 'nobody'`],
    ['DELETE', 'DELETE FROM audit_records'],
    ['TRUNCATE', 'TRUNCATE audit_records'],
    [
      'ON CONFLICT',
      `INSERT INTO audit_records (id, action, actor) OVERRIDING SYSTEM VALUE
      SELECT id, 'x', 'x' FROM audit_records ON CONFLICT (id) DO UPDATE SET actor = 'nobody'`,
    ],
  ])('refuses %s', async (_, statement) => {
    await fill('kept', 1, 400)
    await expect(db.sql.unsafe(statement)).rejects.toThrow('audit records are never changed')
  })

  it('keeps entries of the last day also from whoever knows how entries expire', async () => {
    await fill('fresh', 3)
    await db.sql`SELECT expire_audit_records(clock_timestamp() + interval '1 year', 1000)`
    expect(await countOf('fresh')).toBe(3)
    await expect(
      db.sql.begin(async (tx) => {
        await tx`SELECT set_config('platform.expire_audit_records', 'on', true)`
        await tx`DELETE FROM audit_records WHERE action = 'fresh'`
      }),
    ).rejects.toThrow('audit records are never changed')
  })

  it('refuses a deletion in the transaction that let entries expire', async () => {
    await fill('expiring', 2, 400)
    await expect(
      db.sql.begin(async (tx) => {
        await tx`SELECT expire_audit_records(clock_timestamp() - interval '399 days', 1)`
        await tx`DELETE FROM audit_records WHERE action = 'expiring'`
      }),
    ).rejects.toThrow('audit records are never changed')
  })
})

describe('recordAudit', () => {
  it('is undone with the transaction that it is part of', async () => {
    const entry = { action: 'round_cancelled', actor: platformFor(null), detail: { round: 77 } } as const
    const failing = db.sql.begin(async (tx) => {
      await recordAudit(tx, entry)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await countOf('round_cancelled')).toBe(0)
    await db.sql.begin((tx) => recordAudit(tx, entry))
    expect(await countOf('round_cancelled')).toBe(1)
  })

  it('stores what the database cannot hold in another form', async () => {
    const actor = { user_id: null, name: 'A\0da\ud800', address: null }
    await recordAudit(db.sql, { action: 'user_created', actor, detail: { name: '\0\udfff' } })
    const { items } = await listAuditRecords(db.sql, { action: 'user_created', page: 1, page_size: 1 })
    expect(items).toMatchObject([{ actor: 'Ada\ufffd', detail: { name: '\ufffd' } }])
  })
})

describe('reading', () => {
  it('counts up to a limit and says so', async () => {
    await fill('merge_begun', MOST_COUNTED + 5)
    const filter = { action: 'merge_begun', page_size: 100 } as const
    const first = await listAuditRecords(db.sql, { ...filter, page: 1 })
    expect([first.total, first.total_is_exact, first.items.length]).toEqual([MOST_COUNTED, false, 100])
    const last = await listAuditRecords(db.sql, { ...filter, page: 50 })
    expect(last.items).toHaveLength(100)
    expect((await listAuditRecords(db.sql, { ...filter, page: 51 })).items).toEqual([])
    const before = last.items.at(-1)?.at ?? ''
    const rest = await listAuditRecords(db.sql, { ...filter, page: 1, before })
    expect([rest.total, rest.total_is_exact]).toEqual([5, true])
  })

  it('reads everything in batches, each entry once, newest first, up to a limit', async () => {
    // Entries of one transaction may have the same time.
    await db.sql`
      INSERT INTO audit_records (action, actor, at) SELECT 'merge_completed', 'platform', '2026-01-01Z'
      FROM generate_series(1, 25)`
    const read = async (most: number) => {
      const rows = []
      for await (const batch of readAuditRecords(db.sql, { action: 'merge_completed' }, { batch: 10, most }))
        rows.push(...batch)
      return rows.map(({ id }) => id)
    }
    const all = await read(1_000)
    expect(all).toHaveLength(25)
    expect(all).toEqual([...new Set(all)].sort((a, b) => b - a))
    expect(await read(12)).toEqual(all.slice(0, 12))
  })

  it('finds by a part of an e-mail that one, many or most users have', async () => {
    const people = await Promise.all(['zoe-1', 'zoe-2', 'zorro'].map((name) => createUser(db.sql, name)))
    await db.sql`
      INSERT INTO users (issuer, subject, email) SELECT 'i', 'bulk' || n, 'bulk' || n || '@many.example'
      FROM generate_series(1, 600) AS n`
    const foundBy = async (user_email: string) =>
      (await listAuditRecords(db.sql, { user_email, page: 1, page_size: 100 })).items.map(({ user_id }) => user_id)
    expect(await foundBy('zoe-1@')).toEqual([people[0]?.id])
    expect((await foundBy('ZOE-')).sort()).toEqual([people[0]?.id, people[1]?.id].sort())
    expect(await foundBy('many.example')).toEqual([])
    expect(await foundBy('%')).toEqual([])
    expect((await foundBy('e')).length).toBeGreaterThanOrEqual(3)
  })
})

describe('retention', () => {
  it('removes what is older than so many days, and nothing with 0', async () => {
    await fill('old', 12_000, 40)
    await fill('younger', 10, 20)
    await db.sql`INSERT INTO sign_in_refusals VALUES (now() - interval '40 days', 'r', 'p', 1), (now(), 'r', 'p', 1)`
    const now = new Date()
    expect(await expireAuditRecords(db.sql, { days: 0, now, signal })).toBe(0)
    expect(await countOf('old')).toBe(12_000)
    expect(await expireAuditRecords(db.sql, { days: 30, now, signal: AbortSignal.abort() })).toBe(0)
    expect(await expireAuditRecords(db.sql, { days: 30, now, signal })).toBeGreaterThanOrEqual(12_000)
    expect([await countOf('old'), await countOf('younger')]).toEqual([0, 10])
    expect(await db.sql`SELECT 1 FROM sign_in_refusals`).toHaveLength(1)
    expect(await expireAuditRecords(db.sql, { days: Number.MAX_SAFE_INTEGER, now, signal })).toBe(0)
  })

  it('is part of the sweep of the worker', async () => {
    const lines: Record<string, unknown>[] = []
    const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
    const folder = `/nowhere/${crypto.randomUUID()}`
    const sweepWith = async (yaml: string, now = new Date()) => {
      const config = await configOf(`paths: { upload_folder: "${folder}", git_folder: "${folder}-git" }\n${yaml}`)
      const storage = {} as Parameters<typeof sweep>[0]['storage']
      await sweep({ config, sql: db.sql, storage, log, now: () => now, cache: memoryCache(), fetch }, signal)
    }
    await fill('swept', 5, 3)
    await sweepWith('')
    expect(await countOf('swept')).toBe(5)
    await sweepWith('audit: { retention_days: 2 }')
    expect(await countOf('swept')).toBe(0)
    expect(lines).toContainEqual(expect.objectContaining({ message: 'entries of the audit record removed' }))
    // A clock that is far ahead cannot remove entries of today.
    await fill('today', 5)
    await sweepWith('audit: { retention_days: 2 }', new Date(Date.now() + 1_000 * DAY_MS))
    expect(await countOf('today')).toBe(5)
  })
})
