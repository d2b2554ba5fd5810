import { beforeAll, describe, expect, it } from 'vitest'
import { provideCore } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'

const core = provideCore()
let generate: string
let drift: string

beforeAll(async () => {
  generate = await openSession(core.context, core.me, { query: 'Add a 100% private_bucket' })
  const run = await runRound(core.context, generate)
  await run.status('generating', 'Writing')
  await run.finish('completed', 'Done', [{ user: 'Add', assistant: 'Added' }])
  drift = await openSession(core.context, core.me, {
    query: 'Reconcile',
    mode: 'drift',
    repo_uri: 'https://git.example.com/Acme/network',
    iac_path: 'live',
  })
  const other = await createUser(core.database.sql, 'other', { email: null })
  await openSession(core.context, other.id, { query: 'Add a 100% private_bucket' })
})

const list = async (query = '') => core.call('GET', `/api/v1/sessions/list${query}`)
const ids = async (query: string) => (await (await list(query)).json()).items.map(({ uuid }: { uuid: string }) => uuid)
const detail = async (query: string) => core.call('GET', `/api/v1/sessions?${query}`)

describe('the list', () => {
  it('is an envelope of summaries of the own sessions, newest first', async () => {
    const page = await (await list()).json()
    expect(Object.keys(page)).toEqual(['items', 'total', 'page', 'page_size', 'total_pages'])
    expect(page).toMatchObject({ total: 2, page: 1, page_size: 20, total_pages: 1 })
    expect(page.items.map(({ uuid }: { uuid: string }) => uuid)).toEqual([drift, generate])
    expect(page.items[1]).toEqual({
      uuid: generate,
      username: 'dev@platform.local',
      operation: 'generate',
      provider: 'aws',
      first_query: 'Add a 100% private_bucket',
      workspace: {
        uri: 'https://github.com/acme/infra.git',
        branch: expect.stringMatching(/^Platform\//),
        root_path: null,
      },
      current_status: 'completed',
      in_flight: false,
      is_blocked: false,
      lock: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      updated_at: expect.any(String),
    })
  })

  it('pages', async () => {
    expect(await (await list('?page_size=1&page=2')).json()).toMatchObject({
      items: [{ uuid: generate }],
      total: 2,
      page: 2,
      page_size: 1,
      total_pages: 2,
    })
    expect(await (await list('?page=7')).json()).toMatchObject({ items: [], total: 2, page: 7, total_pages: 1 })
    expect(await (await list('?search=nothing-like-it')).json()).toMatchObject({ items: [], total: 0, total_pages: 0 })
    expect((await list('?page_size=100&page=2147483647')).status).toBe(200)
  })

  it.each([
    ['page=0', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    ['page=-1', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    ['page=x', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
    ['page=', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
    ['page=1.5', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
    ['page=99999999999999999999999', 'less_than_equal', 'Input should be less than or equal to 2147483647'],
    ['page_size=0', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    ['page_size=101', 'less_than_equal', 'Input should be less than or equal to 100'],
    ['operation=apply', 'enum', "Input should be 'generate', 'drift' or 'import'"],
    ['status=Done', 'enum', expect.stringMatching(/^Input should be 'started', .* or 'failed'$/)],
    [`search=${'x'.repeat(201)}`, 'string_too_long', 'String should have at most 200 characters'],
    ['search=%00', 'value_error', expect.stringContaining('NUL')],
  ])('refuses %s', async (query, type, msg) => {
    const answer = await list(`?${query}`)
    const [name] = query.split('=')
    expect([answer.status, (await answer.json()).detail]).toMatchObject([422, [{ type, loc: ['query', name], msg }]])
  })

  it('reports all bad parameters together, the last of a repeated one', async () => {
    const answer = await list('?page=1&page=0&page_size=x')
    expect((await answer.json()).detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(['page', 'page_size'])
  })

  it('counts characters, not UTF-16 units', async () => {
    expect((await list(`?search=${encodeURIComponent('𝒳'.repeat(200))}`)).status).toBe(200)
    expect((await list(`?search=${encodeURIComponent('𝒳'.repeat(201))}`)).status).toBe(422)
  })

  it('filters by operation, latest status and text', async () => {
    expect(await ids('?operation=drift')).toEqual([drift])
    expect(await ids('?status=completed')).toEqual([generate])
    expect(await ids('?status=generating')).toEqual([])
    expect(await ids('?search=PRIVATE_')).toEqual([generate])
    expect(await ids('?operation=DRIFT')).toEqual([drift])
    expect(await ids('?status=Completed')).toEqual([generate])
    expect(await ids('?search=100%25')).toEqual([generate])
    expect(await ids('?search=_%25')).toEqual([])
    expect(await ids('?search=ACME/net')).toEqual([drift])
    expect(await ids(`?search=${drift.slice(3, 14)}`)).toEqual([drift])
    expect(await ids('?operation=&status=&search=%20')).toEqual([drift, generate])
    expect(await ids('?search=%FF')).toEqual([])
  })

  it('knows no other parameter', async () => {
    expect(await ids('?username=x&user_email=nobody&other=1')).toEqual([drift, generate])
  })
})

describe('the detail', () => {
  it('holds the summary, the scope and the rounds', async () => {
    const answer = await detail(`id=${generate}`)
    expect(answer.status).toBe(200)
    const session = await answer.json()
    const [, summary] = (await (await list()).json()).items
    expect(session).toMatchObject({ ...summary, scope_id: 'acme-test', history: null })
    expect(session.rounds).toEqual([
      {
        id: expect.any(Number),
        number: 1,
        query: 'Add a 100% private_bucket',
        preview: false,
        statuses: [
          { status: 'started', message: null, created_at: expect.any(String) },
          { status: 'generating', message: 'Writing', created_at: expect.any(String) },
          { status: 'completed', message: 'Done', created_at: expect.any(String) },
        ],
        reports: [],
        compliance_checks: [],
        plans: [],
        code_changes: [],
        previews: [],
        outputs: [],
        pull_requests: [],
        state_question: null,
        attempts: [],
        usage: null,
        budgets: [],
        created_at: expect.any(String),
      },
    ])
  })

  it.each([
    'true',
    'True',
    '1',
    'yes',
    'on',
  ])('adds the conversation with include_history=%s, behind any cache', async (value) => {
    await detail(`id=${generate}`)
    await core.database.sql`UPDATE histories SET payload = '[{"user":"u","assistant":"a"}]'
      WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${generate})`
    const { history } = await (await detail(`id=${generate}&include_history=${value}`)).json()
    expect(history).toEqual([{ user: 'u', assistant: 'a' }])
  })

  it.each([
    ['', [['id', 'missing']]],
    ['id=nope', [['id', 'uuid_parsing']]],
    ['id=', [['id', 'uuid_parsing']]],
    [
      'include_history=perhaps',
      [
        ['id', 'missing'],
        ['include_history', 'bool_parsing'],
      ],
    ],
  ])('refuses ?%s', async (query, expected) => {
    const answer = await detail(query)
    expect(answer.status).toBe(422)
    const problems = (await answer.json()).detail
    expect(problems.map(({ loc, type }: { loc: string[]; type: string }) => [loc[1], type])).toEqual(expected)
  })

  it('takes an id in any spelling of a uuid', async () => {
    for (const id of [generate.toUpperCase(), generate.replaceAll('-', ''), `{${generate}}`, `urn:uuid:${generate}`])
      expect(await (await detail(`id=${encodeURIComponent(id)}`)).json()).toMatchObject({ uuid: generate })
  })

  it('goes on without a cache', async () => {
    const dead = {
      get: async () => null,
      set: async () => {},
      delete: async () => {},
      isOn: () => false,
      ping: () => Promise.reject(new Error('away')),
      close: async () => {},
    }
    const app = await core.another({ context: { cache: dead } })
    expect((await app.request(`/api/v1/sessions?id=${generate}`)).status).toBe(200)
  })

  it('is never kept by caches between', async () => {
    expect((await detail(`id=${generate}`)).headers.get('cache-control')).toBe('no-store')
  })
})
