import { beforeAll, describe, expect, it } from 'vitest'
import { createTestCore, refusalOf } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'

const LIST = '/api/v1/admin/sessions/list'
const core = startOnce(createTestCore)
let ann: string
let bob: string
let nameless: string
let nameless_id: number

beforeAll(async () => {
  const { sql } = core.database
  const owners = [
    await createUser(sql, 'ann'),
    await createUser(sql, 'b_b%'),
    await createUser(sql, 'nameless', { email: null }),
  ]
  const [first, second, third] = owners.map(({ id }) => id) as [number, number, number]
  ann = await openSession(core.context, first, { query: 'Add a bucket' })
  await (await runRound(core.context, ann)).finish('completed', 'done', [{ user: 'Add a bucket', assistant: 'Added.' }])
  bob = await openSession(core.context, second, { query: 'Remove a queue', mode: 'drift' })
  nameless = await openSession(core.context, third, { mode: 'import', repo_uri: 'https://github.com/acme/other.git' })
  nameless_id = third
})

const list = async (query = '') => {
  const answer = await core.call('GET', `${LIST}?${query}`)
  expect(answer.status).toBe(200)
  return answer.json()
}
const found = async (query: string) => (await list(query)).items.map(({ uuid }: { uuid: string }) => uuid)

describe(`GET ${LIST}`, () => {
  it('holds the sessions of everybody, newest first', async () => {
    const page = await list()
    expect(page).toMatchObject({ total: 3, page: 1, page_size: 20, total_pages: 1 })
    expect(Object.keys(page)).toEqual(['items', 'total', 'page', 'page_size', 'total_pages'])
    expect(page.items.map(({ uuid, username }: { uuid: string; username: string }) => [uuid, username])).toEqual([
      [nameless, `user-${nameless_id}`],
      [bob, 'b_b%@example.org'],
      [ann, 'ann@example.org'],
    ])
    expect(await (await core.call('GET', '/api/v1/sessions/list')).json()).toMatchObject({ total: 0, items: [] })
  })

  it.each([
    ['user_email=ann', () => [ann]],
    ['user_email=ANN@EXAMPLE', () => [ann]],
    ['user_email=example.org', () => [bob, ann]],
    ['user_email=b_b%25', () => [bob]],
    ['user_email=%25', () => [bob]],
    ['user_email=_', () => [bob]],
    ['user_email=user-', () => []],
    ['user_email=%20', () => [nameless, bob, ann]],
    ['user_email=', () => [nameless, bob, ann]],
    ['username=ann', () => [nameless, bob, ann]],
    ['operation=drift', () => [bob]],
    ['operation=', () => [nameless, bob, ann]],
    ['status=completed', () => [ann]],
    ['status=started', () => [nameless, bob]],
    ['search=bucket', () => [nameless, ann]],
    ['search=acme/other', () => [nameless]],
    ['search=bucket&user_email=ann', () => [ann]],
    ['operation=drift&user_email=ann', () => []],
  ])('filters by %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected())
  })

  it('finds a session by a part of its id', async () => {
    expect(await found(`search=${bob.slice(4, 20).toUpperCase()}`)).toEqual([bob])
  })

  it('pages, also beyond the end', async () => {
    expect(await list('page_size=2')).toMatchObject({
      total: 3,
      page_size: 2,
      total_pages: 2,
      items: [{ uuid: nameless }, { uuid: bob }],
    })
    expect(await list('page_size=2&page=2')).toMatchObject({ page: 2, items: [{ uuid: ann }] })
    expect(await list('page=2147483647&page_size=100')).toMatchObject({ total: 3, total_pages: 1, items: [] })
    expect(await list('user_email=nobody')).toMatchObject({ total: 0, total_pages: 0, items: [] })
  })

  it.each([
    ['page=0', 'greater_than_equal'],
    ['page=x', 'int_parsing'],
    ['page_size=0', 'greater_than_equal'],
    ['page_size=101', 'less_than_equal'],
    ['operation=apply', 'enum'],
    ['status=reconciling', 'enum'],
    [`search=${'x'.repeat(201)}`, 'string_too_long'],
    [`user_email=${'x'.repeat(255)}`, 'string_too_long'],
  ])('refuses %s', async (query, type) => {
    expect(await refusalOf(core.call('GET', `${LIST}?${query}`))).toMatchObject([
      422,
      [{ type, loc: ['query', query.split('=')[0]] }],
    ])
  })

  it('takes the longest filters', async () => {
    expect(await found(`user_email=${encodeURIComponent('😀'.repeat(254))}`)).toEqual([])
    expect(await found(`search=${'x'.repeat(200)}`)).toEqual([])
  })
})

describe('GET /api/v1/admin/sessions', () => {
  const detail = (query: string) => core.call('GET', `/api/v1/admin/sessions?${query}`)

  it('shows the session of anybody, as its owner sees it', async () => {
    const answer = await detail(`id=${ann.toUpperCase()}`)
    expect(answer.status).toBe(200)
    const session = await answer.json()
    expect(session).toMatchObject({
      uuid: ann,
      username: 'ann@example.org',
      scope_id: 'acme-test',
      history: null,
      rounds: [{ number: 1 }],
    })
    expect(session).toEqual(await (await core.call('GET', `/api/v1/sessions?id=${ann}`)).json())
  })

  it('shows the conversation on request, never from the cache', async () => {
    await detail(`id=${ann}`)
    await core.database.sql`UPDATE histories SET payload = '[{"user": "a", "assistant": "b"}]'
      WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${ann})`
    expect(await (await detail(`id=${ann}&include_history=true`)).json()).toMatchObject({
      history: [{ user: 'a', assistant: 'b' }],
    })
    expect(await (await detail(`id=${ann}&include_history=false`)).json()).toMatchObject({ history: null })
  })

  it.each([
    ['', 'missing', 'id'],
    ['id=x', 'uuid_parsing', 'id'],
    [`id=${crypto.randomUUID()}&include_history=perhaps`, 'bool_parsing', 'include_history'],
  ])('refuses ?%s', async (query, type, parameter) => {
    expect(await refusalOf(detail(query))).toMatchObject([422, [{ type, loc: ['query', parameter] }]])
  })
})

describe('PATCH /api/v1/admin/sessions/{session_id}/toggle_lock', () => {
  const toggle = (uuid: string, json: unknown) =>
    core.call('PATCH', `/api/v1/admin/sessions/${uuid}/toggle_lock`, { json })

  it('sets the given state, whatever it was, on the session of anybody', async () => {
    const listed = async () => (await list(`search=${ann}`)).items[0]
    const dev = { gate: 'person', by: 'dev@platform.local', round: null }
    const since = new Set<string>()
    for (const locked of [true, true, false, false, true]) {
      const reason = locked ? ' Wait. ' : ' It is an empty bucket. '
      const answer = await toggle(ann.toUpperCase(), { locked, reason, other: 1 })
      expect([answer.status, await answer.text()]).toEqual([200, JSON.stringify({ uuid: ann, is_blocked: locked })])
      const lock = locked ? { since: expect.stringMatching(/\.\d{6}Z$/), reasons: [{ ...dev, what: 'Wait.' }] } : null
      const detail = await (await core.call('GET', `/api/v1/sessions?id=${ann}`)).json()
      for (const shown of [detail, await listed()]) expect(shown).toMatchObject({ is_blocked: locked, lock })
      if (locked) since.add(detail.lock.since)
    }
    expect(since.size).toBe(2)
  })

  it('shows the last change of the lock, with the reason', async () => {
    const last = async () => (await (await core.call('GET', `/api/v1/sessions?id=${ann}`)).json()).last_lock_change
    const entry = { by: 'dev@platform.local', at: expect.stringMatching(/\.\d{6}Z$/), round: null }
    expect(await last()).toEqual({ ...entry, locked: true, reason: 'Wait.' })
    await toggle(ann, { locked: false, reason: ' It is an <b>empty</b>\nbucket. ' })
    expect(await last()).toEqual({ ...entry, locked: false, reason: 'It is an <b>empty</b>\nbucket.' })
    await toggle(ann, { locked: true, reason: 'Wait for the data team' })
    expect(await last()).toEqual({ ...entry, locked: true, reason: 'Wait for the data team' })
    await toggle(ann, { locked: false, reason: 'Checked, password: hunter2!' })
    expect((await last()).reason).toBe('Checked, password: (masked secret)')
    await toggle(ann, { locked: true })
  })

  it.each([
    [{}, 'missing'],
    [{ reason: null }, 'value_error'],
    [{ reason: '' }, 'value_error'],
    [{ reason: ' \n\t' }, 'value_error'],
    [{ reason: 'x'.repeat(1_001) }, 'string_too_long'],
    [{ reason: 'a\0b' }, 'value_error'],
    [{ reason: 7 }, 'string_type'],
  ])('does not unlock with the reason %j', async (given, type) => {
    await toggle(ann, { locked: true })
    for (const locked of [false, 'no', 0])
      expect(await refusalOf(toggle(ann, { locked, ...given }))).toMatchObject([
        422,
        [{ type, loc: ['body', 'reason'] }],
      ])
    expect(await (await core.call('GET', `/api/v1/sessions?id=${ann}`)).json()).toMatchObject({ is_blocked: true })
  })

  it('works while a round runs', async () => {
    expect(await (await toggle(bob, { locked: true })).json()).toEqual({ uuid: bob, is_blocked: true })
    expect(await (await core.call('GET', `/api/v1/sessions?id=${bob}`)).json()).toMatchObject({
      in_flight: true,
      is_blocked: true,
    })
  })

  it.each([
    [{}, 'missing'],
    [{ locked: null }, 'bool_type'],
    [{ locked: 'perhaps' }, 'bool_parsing'],
    [{ locked: 2 }, 'bool_parsing'],
    [{ locked: [true] }, 'bool_type'],
  ])('refuses %j and changes nothing', async (json, type) => {
    expect(await refusalOf(toggle(bob, json))).toMatchObject([422, [{ type, loc: ['body', 'locked'] }]])
    expect(await (await core.call('GET', `/api/v1/sessions?id=${bob}`)).json()).toMatchObject({ is_blocked: true })
  })

  it('reports path and body together', async () => {
    expect(await refusalOf(toggle('x', {}))).toMatchObject([
      422,
      [
        { type: 'uuid_parsing', loc: ['path', 'session_id'] },
        { type: 'missing', loc: ['body', 'locked'] },
      ],
    ])
  })
})
