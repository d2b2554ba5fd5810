import { beforeAll, describe, expect, it } from 'vitest'
import type { User } from '../../src/access/users.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { appendStatus } from '../../src/rounds/transitions.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { claimOf, createSession, createUser, useVerbs } from './fixtures.ts'

const { db, context } = useVerbs()
let ann: User
let bob: User
const uuids: Record<string, string> = {}
beforeAll(async () => {
  ann = await createUser(db.sql, 'Ann_Lee@Example.com')
  bob = await createUser(db.sql)
  const add = async (name: string, input: Parameters<typeof createSession>[1]) => {
    uuids[name] = await createSession(context, input)
  }
  await add('network', {
    user_id: ann.id,
    query: 'Create a NETWORK with 100% uptime',
    repo_uri: 'https://github.com/acme/net',
  })
  await add('bucket', {
    user_id: ann.id,
    query: 'a bucket named logs_eu',
    mode: 'drift',
    repo_uri: 'https://github.com/acme/Storage',
  })
  await add('queue', {
    user_id: bob.id,
    repo_uri: 'https://gitlab.com/x/y',
    query: String.raw`back\slash in Ünïcode`,
    mode: 'import',
  })
  const claim = await claimOf(db.sql, uuids.bucket ?? '')
  await appendStatus(db.sql, claim, 'generating', 'x')
  await finishRound(context, claim, { status: 'completed', message: 'DRIFT', history: [], commit: null, usage: null })
})

const first = { page: 1, page_size: 20 }
const names = async (filter: Partial<Parameters<typeof listSessions>[1]>) => {
  const { items, total } = await listSessions(db.sql, { ...first, ...filter })
  const found = items.map((item) => Object.keys(uuids).find((name) => uuids[name] === item.uuid))
  expect(total).toBe(found.length)
  return found
}

describe('listSessions', () => {
  it('answers the summaries, newest first', async () => {
    const { items, total } = await listSessions(db.sql, first)
    expect(total).toBe(3)
    expect(items.map((item) => item.uuid)).toEqual([uuids.queue, uuids.bucket, uuids.network])
    expect(items[1]).toEqual({
      uuid: uuids.bucket,
      username: 'Ann_Lee@Example.com',
      operation: 'drift',
      provider: 'gcp',
      first_query: 'a bucket named logs_eu',
      workspace: {
        uri: 'https://github.com/acme/Storage',
        branch: expect.stringMatching(/^Platform\//),
        root_path: null,
      },
      current_status: 'completed',
      in_flight: false,
      is_blocked: false,
      lock: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    })
    expect(items[0]?.username).toBe(`user-${bob.id}`)
  })

  it('pages, and a page beyond the end is empty', async () => {
    const page = (number: number, page_size = 2) => listSessions(db.sql, { page: number, page_size })
    expect((await page(1)).items.map((item) => item.uuid)).toEqual([uuids.queue, uuids.bucket])
    expect((await page(2)).items.map((item) => item.uuid)).toEqual([uuids.network])
    expect(await page(3)).toEqual({ items: [], total: 3 })
    expect(await page(Number.MAX_SAFE_INTEGER, 100)).toEqual({ items: [], total: 3 })
    expect(await page(1e300, 100)).toEqual({ items: [], total: 3 })
  })

  it('orders sessions of one moment by their id', async () => {
    const before = await db.sql`SELECT id, created_at FROM sessions`
    await db.sql`UPDATE sessions SET created_at = '2025-01-01T00:00:00Z'`
    const { items } = await listSessions(db.sql, first)
    expect(items.map((item) => item.uuid)).toEqual([uuids.queue, uuids.bucket, uuids.network])
    for (const row of before) await db.sql`UPDATE sessions SET created_at = ${row.created_at} WHERE id = ${row.id}`
  })

  it.each([
    [{ operation: 'generate' }, ['network']],
    [{ operation: 'drift', status: 'completed' }, ['bucket']],
    [{ status: 'started' }, ['queue', 'network']],
    // It was in this state, and left it.
    [{ status: 'generating' }, []],
    [{ search: 'network' }, ['network']],
    [{ search: 'STORAGE' }, ['bucket']],
    [{ search: 'ÜNÏ' }, ['queue']],
    [{ search: '%' }, ['network']],
    [{ search: '100%' }, ['network']],
    [{ search: '_' }, ['bucket']],
    [{ search: String.raw`k\s` }, ['queue']],
    [{ search: '\ud800' }, []],
    [{ search: "'; DROP TABLE sessions; --" }, []],
    [{ search: 'net', operation: 'drift' }, []],
    [{ user_email: 'ann_lee' }, ['bucket', 'network']],
    [{ user_email: 'n_l' }, ['bucket', 'network']],
    [{ user_email: 'ann%' }, []],
  ] as const)('filters by %j', async (filter, expected) => {
    expect(await names(filter)).toEqual(expected)
  })

  it('finds a part of the uuid in any case', async () => {
    const part = (uuids.queue ?? '').slice(9, 23)
    expect(await names({ search: part.toUpperCase() })).toEqual(['queue'])
  })

  it('shows the sessions of one owner only', async () => {
    expect(await names({ owner_id: bob.id })).toEqual(['queue'])
    expect(await names({ owner_id: bob.id, user_email: 'ann' })).toEqual([])
    expect(await names({ owner_id: 0 })).toEqual([])
  })

  it('reads no statuses', async () => {
    await db.sql`ALTER TABLE statuses RENAME TO away`
    expect(await names({ status: 'completed' })).toEqual(['bucket'])
    await db.sql`ALTER TABLE away RENAME TO statuses`
  })
})
