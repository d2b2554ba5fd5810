import { beforeAll, describe, expect, it } from 'vitest'
import type { User } from '../../src/access/users.ts'
import { connect } from '../../src/data/db/pool.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { provideDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { createUser } from './fixtures.ts'

const SESSIONS = 1_500

let owner: User
const db = provideDatabase()
const many = provideDatabase()
const mixed = provideDatabase()
beforeAll(async () => {
  owner = await createUser(db.sql)
  await addSessions(db.sql, owner.id, SESSIONS)
})

/** Adds sessions. Session n asks for `item n`; every third is in repository `third`, the others in `other`. */
async function addSessions(sql: TestDatabase['sql'], user_id: number, count: number): Promise<void> {
  await sql`
    INSERT INTO sessions (user_id, operation, last_status, created_at)
    SELECT ${user_id}, 'generate', CASE WHEN n % 2 = 0 THEN 'failed' ELSE 'completed' END::session_status, now() - n * interval '1 minute'
    FROM generate_series(1, ${count}) n`
  await sql`INSERT INTO engine_providers (session_id, provider, scope_id) SELECT id, 'aws', 'x' FROM sessions`
  await sql`INSERT INTO histories (session_id, first_query) SELECT id, 'Item ' || id || ' of the list' FROM sessions`
  await sql`
    INSERT INTO workspaces (session_id, uri, branch)
    SELECT id, 'https://git.example.org/acme/' || CASE WHEN id % 3 = 0 THEN 'Third' ELSE 'other' END, 'b' FROM sessions`
}

const queries = async (filter: Partial<Parameters<typeof listSessions>[1]>) => {
  const { items, total } = await listSessions(db.sql, { page: 1, page_size: 3, ...filter })
  return { found: items.map((item) => item.first_query), total }
}
const item = (number: number) => `Item ${number} of the list`

describe('lists of many sessions', () => {
  it('finds what nearly all have, in order and page by page', async () => {
    expect(await queries({})).toEqual({ found: [item(1), item(2), item(3)], total: SESSIONS })
    expect(await queries({ search: 'OF THE' })).toEqual({ found: [item(1), item(2), item(3)], total: SESSIONS })
    expect(await queries({ search: 'e', page: 500 })).toEqual({
      found: [item(1498), item(1499), item(1500)],
      total: SESSIONS,
    })
    expect(await queries({ search: 'e', page: 501 })).toEqual({ found: [], total: SESSIONS })
    expect(await queries({ search: 'git.example.org/ACME' })).toEqual({
      found: [item(1), item(2), item(3)],
      total: SESSIONS,
    })
  })

  it('finds what few have', async () => {
    expect(await queries({ search: 'item 1499 ' })).toEqual({ found: [item(1499)], total: 1 })
    expect(await queries({ search: 'third', page: 2 })).toEqual({ found: [item(12), item(15), item(18)], total: 500 })
    expect(await queries({ search: 'third', status: 'failed' })).toEqual({
      found: [item(6), item(12), item(18)],
      total: 250,
    })
    expect(await queries({ search: 'third', status: 'apply' })).toEqual({ found: [], total: 0 })
    expect(await queries({ search: 'third', operation: 'drift' })).toEqual({ found: [], total: 0 })
    expect(await queries({ search: 'third', owner_id: 0 })).toEqual({ found: [], total: 0 })
    expect(await queries({ search: 'item 14', status: 'completed' })).toMatchObject({
      found: [item(141), item(143), item(145)],
    })
  })

  it('counts once what matches by its repository and by its text, with every other criterion', async () => {
    const { sql } = mixed
    const { id } = await createUser(sql, 'ada@example.org')
    await addSessions(sql, id, 9)
    const ask = 'third of the list'
    await sql`UPDATE session_search SET content = replace(content, 'of the list', ${ask}) WHERE session_id IN (3, 4, 5)`
    const totalOf = async (filter: Partial<Parameters<typeof listSessions>[1]>) => {
      const { items, total } = await listSessions(sql, { page: 1, page_size: 20, search: 'third', ...filter })
      expect(items).toHaveLength(total)
      return total
    }
    // 3, 6 and 9 are in the repository.
    expect(await totalOf({})).toBe(5)
    expect(await totalOf({ owner_id: id, user_email: 'ADA@', operation: 'generate' })).toBe(5)
    expect(await totalOf({ user_email: 'bob@' })).toBe(0)
    expect(await totalOf({ owner_id: id + 1 })).toBe(0)
    expect(await totalOf({ status: 'failed' })).toBe(2)
    expect(await totalOf({ status: 'completed', cloud: 'aws', locked: false })).toBe(3)
    expect(await totalOf({ cloud: 'gcp' })).toBe(0)
    expect(await totalOf({ created_before: '2000-01-01T00:00:00.000000Z' })).toBe(0)
    expect(await totalOf({ repo_uri: 'https://git.example.org/acme/other' })).toBe(2)
    expect(await totalOf({ search: 'acme', status: 'failed' })).toBe(4)
  })

  it('does not find a text across the end of one and the beginning of another', async () => {
    const [row] = await db.sql<{ uuid: string }[]>`SELECT uuid FROM sessions WHERE id = 7`
    const uuid = row?.uuid ?? ''
    for (const between of ['', ' ', '\x1f', '\n'])
      expect(await queries({ search: `list${between}${uuid}` })).toEqual({ found: [], total: 0 })
    expect(await queries({ search: uuid })).toEqual({ found: [item(7)], total: 1 })
  })

  it('finds sessions of more repositories than a list holds', async () => {
    const user_id = (await createUser(many.sql)).id
    await addSessions(many.sql, user_id, 1_004)
    await many.sql`UPDATE workspaces SET uri = uri || '/' || session_id WHERE session_id > 2`
    await many.sql`
      UPDATE sessions s SET repository_id = md5(lower(w.uri))::uuid FROM workspaces w WHERE w.session_id = s.id`
    await many.sql`TRUNCATE session_search, searched_repositories`
    await many.sql`SELECT fill_session_search(ARRAY(SELECT id FROM sessions))`
    const found = async (search: string, more: object = {}) => {
      const { items, total } = await listSessions(many.sql, { page: 1, page_size: 2, search, ...more })
      return [total, ...items.map((one) => one.first_query)]
    }
    expect(await found('OTHER/')).toEqual([668, item(4), item(5)])
    expect(await found('other/', { status: 'failed' })).toEqual([334, item(4), item(8)])
    expect(await found('e')).toEqual([1_004, item(1), item(2)])
    expect(await found('other/1004')).toEqual([1, item(1004)])
    expect(await found('other/1002')).toEqual([0])
    expect(await found('third/1')).toEqual([37, item(12), item(15)])
  })

  it('finds words that stand in the place of the mark between query and uuid', async () => {
    expect(await queries({ search: 'item\x1f1499' })).toEqual({ found: [item(1499)], total: 1 })
    expect(await queries({ search: 'item\x1f\x1f1499' })).toEqual({ found: [], total: 0 })
  })

  it('takes as many statements for a page of one as for a page of a hundred', async () => {
    const statements = async (page_size: number, search?: string) => {
      const seen: string[] = []
      const sql = connect(db.url, { max: 1, onstatement: (text) => seen.push(text) })
      const { items } = await listSessions(sql, { page: 1, page_size, ...(search ? { search } : {}) })
      expect(items).toHaveLength(page_size)
      await sql.end()
      return seen.length
    }
    expect([await statements(1), await statements(100)]).toEqual([2, 2])
    expect([await statements(1, 'item'), await statements(100, 'item')]).toEqual([3, 3])
  })
})
