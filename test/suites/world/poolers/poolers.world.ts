import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { migrate } from '../../../../src/data/db/migrate.ts'
import { type ConnectOptions, connect } from '../../../../src/data/db/pool.ts'
import type { Sql } from '../../../../src/data/db/sql.ts'
import { createEmptyDatabase, provideDatabase } from '../../../helpers/postgres.ts'
import { readStream } from '../../../helpers/sse.ts'
import { startWorld, type World } from '../../contract/world.ts'
import { type Pooler, poolers, startPooler } from './pgbouncer.ts'

const db = provideDatabase()
const pools: Sql[] = []
const open = (url: string, options: ConnectOptions = {}) => {
  const sql = connect(url, options)
  pools.push(sql)
  return sql
}
afterEach(async () => void (await Promise.all(pools.splice(0).map((sql) => sql.end({ timeout: 1 })))))

const wordOf = (work: PromiseLike<unknown>) =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  )

/** 40 statements with values, some of them in a transaction. */
async function work(sql: Sql, seed: number): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const [row] = await sql`SELECT ${seed + n}::int + 1 AS next, now() AS at`
    expect(row).toEqual({ next: seed + n + 1, at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) })
    await sql.begin(async (tx) => {
      await tx`SELECT set_config('platform.mark', ${String(seed)}, true)`
      const [mark] = await tx`SELECT current_setting('platform.mark') AS mark, ${n}::text AS n`
      expect(mark).toEqual({ mark: String(seed), n: String(n) })
    })
    await sql`SELECT * FROM sessions WHERE uuid = ANY(${[crypto.randomUUID()]}::uuid[]) AND id > ${n}`
  }
}

describe.each(poolers)('$name', ({ name, command }) => {
  let transactions: Pooler
  beforeAll(async () => {
    transactions = await startPooler(command, inject('postgres_url'), 'transaction')
  })
  afterAll(() => transactions?.stop())

  it('passes 1,600 statements of 40 callers on, without a failure', async () => {
    const sql = open(transactions.through(db.url), { max: 12 })
    await Promise.all(Array.from({ length: 40 }, (_, seed) => work(sql, seed)))
  })

  it('loses statements that are prepared by name when it is told to have them, so the choice matters', async () => {
    const forgetful: Record<string, number> = name.includes('1.18') ? {} : { max_prepared_statements: 0 }
    const plain = await startPooler(command, inject('postgres_url'), 'transaction', forgetful)
    const words = async (query: string) => {
      const sql = open(plain.through(db.url, query), { max: 12 })
      return await Promise.all(Array.from({ length: 20 }, (_, seed) => wordOf(work(sql, seed))))
    }
    expect((await words('prepare=true')).filter((word) => word.includes('prepared statement')).length).toBeGreaterThan(
      0,
    )
    expect(new Set(await words(''))).toEqual(new Set(['done']))
    await plain.stop()
  })

  it('disturbs no statement with notifications that another client of the session has asked for', async () => {
    const sql = open(transactions.through(db.url), { max: 12 })
    await Promise.all(Array.from({ length: 12 }, () => sql.unsafe('BEGIN; SELECT pg_sleep(0.05); LISTEN news; COMMIT')))
    const notify = async () => {
      for (let n = 0; n < 50; n++) await sql.notify('news', String(n))
    }
    await Promise.all([notify(), ...Array.from({ length: 10 }, (_, seed) => work(sql, seed))])
  })

  it('is noticed to be deaf, and the listeners are called every second', async () => {
    const hearing: boolean[] = []
    const sql = open(transactions.through(db.url), { onHearing: (hears) => void hearing.push(hears) })
    const heard: string[] = []
    const onListening = vi.fn()
    const { unlisten } = await sql.listen('news', (payload) => void heard.push(payload), onListening)
    expect(hearing).toEqual([false])
    await vi.waitFor(() => expect(onListening.mock.calls.length).toBeGreaterThan(2), 10_000)
    expect(heard).toEqual([])
    await unlisten()
  })

  it('is passed by notifications, locks and migrations over the direct address', async () => {
    const empty = await createEmptyDatabase(db)
    const hearing: boolean[] = []
    const sql = open(transactions.through(empty), { directUrl: empty, onHearing: (hears) => void hearing.push(hears) })
    const heard = Promise.withResolvers<string>()
    await sql.listen('news', heard.resolve)
    await migrate(sql)
    await sql.notify('news', 'arrived')
    expect(await heard.promise).toBe('arrived')
    expect(hearing).toEqual([])
  })

  it('says when the direct address leads to another database', async () => {
    const hearing: boolean[] = []
    const other = await createEmptyDatabase(db)
    const sql = open(transactions.through(db.url), { directUrl: other, onHearing: (hears) => void hearing.push(hears) })
    await sql.listen('news', () => {})
    expect(hearing).toEqual([false])
  })

  it('takes no transactions in statement mode, so that nothing starts there', async () => {
    const statements = await startPooler(command, inject('postgres_url'), 'statement')
    const sql = open(statements.through(db.url))
    // The pooler ends the connection, and the driver keeps no text of an error that ends one.
    expect(await wordOf(migrate(sql))).toMatch(/^write CONNECTION_CLOSED 127\.0\.0\.1:[1-9]/)
    expect(statements.output()).toContain('transaction blocks not allowed in statement pooling mode')
    await sql.end({ timeout: 1 })
    await statements.stop()
  })

  it('hears in session mode', async () => {
    const sessions = await startPooler(command, inject('postgres_url'), 'session', { default_pool_size: 20 })
    const hearing: boolean[] = []
    const sql = open(sessions.through(db.url, 'prepare=true'), { onHearing: (hears) => void hearing.push(hears) })
    const heard = Promise.withResolvers<string>()
    await sql.listen('news', heard.resolve)
    await Promise.all(Array.from({ length: 5 }, (_, seed) => work(sql, seed)))
    await sql.notify('news', 'arrived')
    expect(await heard.promise).toBe('arrived')
    expect(hearing).toEqual([])
    await sql.end({ timeout: 1 })
    await sessions.stop()
  })

  it('says which parameter of the URL it refuses, and what to do', async () => {
    const sql = open(transactions.through(db.url, 'statement_timeout=5s'))
    expect(await wordOf(sql`SELECT 1`)).toMatch(/statement_timeout.*ALTER ROLE/)
    const named = open(transactions.through(db.url, 'application_name=mine'))
    expect(
      await named`SELECT current_setting('application_name') AS name, current_setting('TimeZone') AS zone`,
    ).toEqual([{ name: 'mine', zone: 'UTC' }])
  })

  describe.each([
    { way: 'with the direct address', isDirect: true },
    { way: 'alone', isDirect: false },
  ])('core and worker $way', ({ isDirect }) => {
    let world: World
    beforeAll(async () => {
      world = await startWorld({
        variables: async (url) => ({
          PLATFORM_SQL_DATABASE_URL: transactions.through(url),
          ...(isDirect && { PLATFORM_SQL_DIRECT_URL: url }),
        }),
      })
    })
    afterAll(() => world?.close())

    it('run rounds over 1,000 statements, whose streams tell each status', async () => {
      const before = await transactions.statements()
      for (let round = 0; round < 3 || (await transactions.statements()) - before < 1_000; round++) {
        const repo_uri = await world.repository()
        const response = await world.call('POST', '/iac/generate', {
          ...{ q: 'Add a bucket for logs', repo_uri, scope_id: '123456789012', engine_providers: 'aws' },
        })
        const { session_id } = (await response.json()) as { session_id: string }
        const stream = readStream(await world.call('GET', `/events/subscribe/${session_id}`))
        const told = (await stream.rest()).map(({ status_msg }) => status_msg)
        expect(told.at(-1)).toBe('COMPLETED')
        expect(new Set(told).size).toBeGreaterThan(1)
      }
      const troubles = world.logs().filter(({ level }) => level === 'error' || level === 'warn')
      expect(
        troubles.filter(({ message }) => /database|statement|queue|notification/.test(String(message))),
      ).toHaveLength(isDirect ? 0 : 2)
      expect(JSON.stringify(world.logs())).not.toMatch(/prepared statement|26000|08P01/)
    })
  })
})
