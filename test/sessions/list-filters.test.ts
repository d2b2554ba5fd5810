import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { CLOUDS, type Cloud, MODES, type Mode, OPERATIONS, STATUSES, type Status } from '../../src/base/vocabulary.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { setLock } from '../../src/rounds/transitions.ts'
import { listSessions, type SessionFilter } from '../../src/sessions/list.ts'
import { splitByMonth } from '../../src/sessions/lists/kinds.ts'
import type { SessionSelection } from '../../src/sessions/lists/matches.ts'
import { countTotals } from '../../src/sessions/lists/totals.ts'
import { provideDatabase } from '../helpers/postgres.ts'
import { claimOf, createSession, createUser, useVerbs } from './fixtures.ts'

const SESSIONS = 1_400
const REPOSITORIES = ['https://github.com/acme/Network', 'https://github.com/acme/storage.git', 'https://git.test/x']
const EMAILS = ['ann@example.org', 'bob@example.org', 'cleo@acme.example']

/** The fields of a session that the filters use. */
interface Known {
  id: number
  uuid: string
  user_id: number
  email: string
  operation: string
  last_status: Status
  provider: Cloud
  last_mode: Mode
  is_blocked: boolean
  in_flight: boolean
  uri: string
  first_query: string
  created_at: string
  updated_at: string
}

let known: Known[]
const db = provideDatabase()
beforeAll(async () => {
  for (const email of EMAILS) await createUser(db.sql, email)
  await addSessions(db.sql)
  known = await db.sql<Known[]>`
    SELECT s.id, s.uuid, s.user_id, u.email, s.operation, s.last_status, p.provider, r.mode AS last_mode, s.is_blocked,
           s.in_flight, w.uri, h.first_query, s.created_at, s.updated_at
    FROM sessions s JOIN users u ON u.id = s.user_id JOIN engine_providers p ON p.session_id = s.id
    JOIN workspaces w ON w.session_id = s.id JOIN histories h ON h.session_id = s.id
    JOIN LATERAL (SELECT mode FROM rounds r WHERE r.session_id = s.id ORDER BY number DESC LIMIT 1) r ON true`
})

/** Adds sessions over two years, some of the same moment, with independent fields. */
async function addSessions(sql: Sql): Promise<void> {
  await sql`SELECT setseed(0.25)`
  await sql`
    INSERT INTO sessions (user_id, operation, in_flight, is_blocked, last_status, created_at, updated_at)
    SELECT 1 + floor(random() * ${EMAILS.length})::int, (${[...OPERATIONS]}::operation[])[1 + floor(random() * 3)::int],
           n % 17 = 0, random() < 0.1, (${[...STATUSES]}::session_status[])[1 + floor(random() * 9)::int],
           '2024-01-01T00:00:00Z'::timestamptz + floor(random() * 730)::int * interval '1 day',
           '2026-01-01T00:00:00Z'::timestamptz + floor(random() * 100)::int * interval '1 hour'
    FROM generate_series(1, ${SESSIONS}) n`
  await sql`
    INSERT INTO engine_providers (session_id, provider, scope_id)
    SELECT id, (${[...CLOUDS]}::cloud[])[1 + floor(random() * random() * 5)::int], 'x' FROM sessions`
  await sql`INSERT INTO histories (session_id, first_query) SELECT id, 'Item ' || id || ' of the list' FROM sessions`
  await sql`
    INSERT INTO workspaces (session_id, uri, branch)
    SELECT id, (${REPOSITORIES}::text[])[1 + floor(random() * 3)::int], 'b' FROM sessions`
  for (const number of [1, 2])
    await sql`
      INSERT INTO rounds (session_id, number, query, mode, finished_at)
      SELECT id, ${number}, 'q', (${[...MODES]}::round_mode[])[1 + floor(random() * 4)::int], now() FROM sessions`
}

const matches = (selection: SessionSelection) => (one: Known) =>
  [
    [selection.owner_id, one.user_id],
    [selection.operation, one.operation],
    [selection.status, one.last_status],
    [selection.cloud, one.provider],
    [selection.mode, one.last_mode],
    [selection.locked, one.is_blocked],
    [selection.repo_uri?.toLowerCase(), one.uri.toLowerCase()],
  ].every(([wanted, found]) => wanted === undefined || wanted === found) &&
  (selection.created_after === undefined || one.created_at >= selection.created_after) &&
  (selection.created_before === undefined || one.created_at < selection.created_before) &&
  (selection.user_email === undefined || one.email.includes(selection.user_email.toLowerCase())) &&
  (selection.search === undefined ||
    [one.first_query, one.uri, one.uuid].some((text) => text.toLowerCase().includes(selection.search ?? '')))

const moment = fc
  .oneof(
    fc
      .constantFrom('2024-01-01', '2024-03-01', '2025-01-01', '2025-12-31', '2026-01-01')
      .map((day) => `${day}T00:00:00Z`),
    fc.date({ min: new Date('2023-12-01'), max: new Date('2026-02-01'), noInvalidDate: true }).map((at) => at.toJSON()),
  )
  .map((text) => new Date(text).toISOString().replace('Z', '000Z'))
const rarely = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
const selections = fc
  .record({
    owner_id: fc.option(fc.constantFrom(1, 2, 99), { nil: undefined, freq: 1 }),
    operation: rarely(fc.constantFrom(...OPERATIONS)),
    status: rarely(fc.constantFrom(...STATUSES)),
    cloud: rarely(fc.constantFrom(...CLOUDS)),
    mode: rarely(fc.constantFrom(...MODES)),
    locked: rarely(fc.boolean()),
    repo_uri: fc.option(fc.constantFrom(...REPOSITORIES, 'https://GITHUB.com/acme/network', 'https://no.test/x'), {
      nil: undefined,
      freq: 1,
    }),
    created_after: rarely(moment),
    created_before: rarely(moment),
    search: fc.option(fc.constantFrom('item 1', 'acme', 'a'), { nil: undefined, freq: 1 }),
    user_email: fc.option(fc.constantFrom('example.org', 'CLEO'), { nil: undefined, freq: 1 }),
  })
  .map((all): SessionSelection => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
  // Filters that match most sessions use other query plans, so they occur often as well.
  .chain((all) => fc.subarray(Object.keys(all)).map((keys) => pick(all, keys)))
const pick = (all: SessionSelection, keys: string[]): SessionSelection =>
  Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)))

const expectedOrder = (selection: SessionSelection, sort: SessionFilter['sort']) => {
  const key = sort === 'last_activity' ? 'updated_at' : 'created_at'
  const found = known.filter(matches(selection))
  return found.sort((a, b) => (a[key] === b[key] ? b.id - a.id : a[key] < b[key] ? 1 : -1)).map(({ uuid }) => uuid)
}

describe('filters and orders together', () => {
  it('list what a plain filter finds, page by page in a stable order', async () => {
    const sorts = fc.constantFrom('created', 'last_activity', undefined)
    const input = fc.tuple(selections, sorts, fc.integer({ min: 1, max: 100 }), fc.nat({ max: 6 }))
    await fc.assert(
      fc.asyncProperty(input, async ([selection, sort, page_size, page]) => {
        const expected = expectedOrder(selection, sort)
        const filter = { ...selection, ...(sort && { sort }), page: page + 1, page_size }
        const { items, total } = await listSessions(db.sql, filter)
        expect(total).toBe(expected.length)
        expect(items.map(({ uuid }) => uuid)).toEqual(expected.slice(page * page_size, (page + 1) * page_size))
      }),
      { numRuns: 300 },
    )
  })

  it('count what a plain filter finds', async () => {
    await fc.assert(
      fc.asyncProperty(selections, async (selection) => {
        const found = known.filter(matches(selection))
        const count = (condition: (one: Known) => boolean) => found.filter(condition).length
        expect(await countTotals(db.sql, selection)).toEqual({
          total: found.length,
          in_flight: count(({ in_flight }) => in_flight),
          locked: count(({ is_blocked }) => is_blocked),
          statuses: Object.fromEntries(STATUSES.map((one) => [one, count(({ last_status }) => last_status === one)])),
        })
      }),
      { numRuns: 150 },
    )
  })
})

describe('totals while sessions live', () => {
  // Its own database, because all sessions are counted.
  const { context } = useVerbs()
  const real = async (sql: Sql) => {
    const rows = await sql<{ last_status: Status; n: number }[]>`
      SELECT last_status, count(*) AS n FROM sessions GROUP BY 1 ORDER BY 1`
    return Object.fromEntries(rows.map(({ last_status, n }) => [last_status, n]))
  }
  const told = async (sql: Sql) =>
    Object.fromEntries(Object.entries((await countTotals(sql, {})).statuses).filter(([, n]) => n > 0))

  it('follow rounds, locks and removals, also after the changes were put together', async () => {
    const { sql } = context
    const owner = (await createUser(sql)).id
    const uuids: string[] = []
    for (let turn = 0; turn < 90; turn++) {
      const uuid = await createSession(context, { user_id: owner, provider: CLOUDS[turn % 5] ?? 'aws' })
      uuids.push(uuid)
      const status = (['completed', 'uncompleted', 'failed'] as const)[turn % 3] ?? 'completed'
      const end = { status, message: '', history: null, commit: null, usage: null }
      await finishRound(context, await claimOf(sql, uuid), end)
      if (turn % 4 === 0) await setLock(context, uuid, true)
      if (turn % 3 === 0) {
        await acceptRound(context, { session_uuid: uuid, mode: 'drift', query: 'again', is_partial: false })
        if (turn % 2 === 0) await finishRound(context, await claimOf(sql, uuid), { ...end, status: 'uncompleted' })
      }
      if (turn % 30 === 0) expect(await told(sql)).toEqual(await real(sql))
    }
    expect(await told(sql)).toEqual(await real(sql))
    expect((await countTotals(sql, { mode: 'drift' })).total).toBe(30)
    expect((await countTotals(sql, { locked: true })).locked).toBe(23)
    await Promise.all(
      Array.from({ length: 360 }, (_, index) =>
        setLock(context, uuids[index % 90] ?? '', Math.floor(index / 90) % 2 === 0),
      ),
    )
    const [sums] = await sql<{ sums: number; changes: number }[]>`
      SELECT count(*) FILTER (WHERE is_sum) AS sums, count(*) FILTER (WHERE NOT is_sum) AS changes FROM session_counts`
    expect(sums?.sums).toBeGreaterThan(0)
    expect(sums?.changes).toBeLessThan(512)
    expect(await told(sql)).toEqual(await real(sql))
    expect((await countTotals(sql, { locked: true })).total).toBe(
      (await sql`SELECT 1 FROM sessions WHERE is_blocked`).length,
    )
  })
})

describe('splitByMonth', () => {
  const at = (day: string, time = '00:00:00.000000') => `${day}T${time}Z`
  it.each([
    [undefined, undefined, { months: {}, parts: [] }],
    [at('2025-03-01'), undefined, { months: { from: at('2025-03-01') }, parts: [] }],
    [undefined, at('2025-03-01'), { months: { to: at('2025-03-01') }, parts: [] }],
    [
      at('2025-12-31', '23:59:59.999999'),
      undefined,
      {
        months: { from: at('2026-01-01') },
        parts: [{ created_after: at('2025-12-31', '23:59:59.999999'), created_before: at('2026-01-01') }],
      },
    ],
    [
      at('2025-01-15'),
      at('2025-03-02'),
      {
        months: { from: at('2025-02-01'), to: at('2025-03-01') },
        parts: [
          { created_after: at('2025-01-15'), created_before: at('2025-02-01') },
          { created_after: at('2025-03-01'), created_before: at('2025-03-02') },
        ],
      },
    ],
    [
      at('2025-01-15'),
      at('2025-02-15'),
      { months: null, parts: [{ created_after: at('2025-01-15'), created_before: at('2025-02-15') }] },
    ],
  ])('from %s to %s', (created_after, created_before, expected) => {
    expect(
      splitByMonth({ ...(created_after && { created_after }), ...(created_before && { created_before }) }),
    ).toEqual(expected)
  })
})
