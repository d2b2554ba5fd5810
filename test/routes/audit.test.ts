import { beforeAll, describe, expect, it } from 'vitest'
import { AUDIT_ACTIONS } from '../../src/access/audit/record.ts'
import { createRefusalCounter } from '../../src/access/audit/refusals.ts'
import { recordAdoption } from '../../src/rounds/run-records.ts'
import { recordLockDecision } from '../../src/rounds/transitions.ts'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { createTestCore, refusalOf } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createIssuer } from '../helpers/issuer.ts'
import { listen } from '../helpers/listen.ts'
import { createUser, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { prWriter, startOutside } from './outside.ts'

/** Put into every text of a caller that the record must not hold. */
const SECRET = 'ghp_PLANTEDsecret0123456789'
const PEER = '10.1.2.3'
const FORWARDED = { 'x-forwarded-for': '198.51.100.66, 203.0.113.7' }

interface Entry {
  id: number
  at: string
  action: string
  actor: string
  user_id: number | null
  session_id: string | null
  address: string | null
  detail: Record<string, unknown>
}
const server = interceptRequests('bypass')
const outside = startOnce(startOutside)
const core = startOnce(async () => {
  const issuer = await createIssuer()
  server.use(...issuer.handlers)
  const started = await createTestCore({
    yaml: `${outside.yaml}
oidc: { issuer_url: "${issuer.url}", client_id: core }
http: { trusted_proxies: ["10.0.0.0/8"] }
admin: { default_root_email: root@example.org }`,
    context: { llm: prWriter() },
  })
  return { ...started, issuer }
})
const ids: Record<string, number> = {}
beforeAll(async () => {
  const { sql } = core.database
  ids.ann = (await createUser(sql, 'ann', { operation_role: 'devops' })).id
  for (const role of ['viewer', 'editor', 'admin'] as const)
    ids[role] = (await createUser(sql, role, { panel_role: role })).id
})

async function as(subject: string, method: string, path: string, json?: unknown, claims = {}): Promise<Response> {
  const headers: Record<string, string> = {
    ...FORWARDED,
    authorization: `Bearer ${await core.issuer.token(subject, claims)}`,
  }
  if (json !== undefined) headers['content-type'] = 'application/json'
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  return core.app.request(`/api/v1${path}`, { method, headers, ...body }, { peer: PEER })
}
const read = async (query: Record<string, string | number> = {}) => {
  const answer = await as('viewer', 'GET', `/admin/audit?${new URLSearchParams(query as Record<string, string>)}`)
  expect(answer.status).toBe(200)
  return (await answer.json()) as { items: Entry[]; total: number; total_is_exact: boolean; total_pages: number }
}
const actionsOf = async (session_id: string) => (await read({ session_id })).items.map(({ action }) => action).reverse()
const first = () => ({
  q: `Add a bucket with ${SECRET}`,
  repo_uri: outside.repository,
  scope_id: 'acme',
  engine_providers: 'aws',
})
const begin = async (mode = 'generate', body = {}): Promise<string> => {
  const answer = await as('ann', 'POST', `/iac/${mode}`, { ...first(), ...body })
  expect(answer.status).toBe(202)
  return (await answer.json()).session_id
}
const finish = async (uuid: string) => (await runRound(core.context, uuid)).finish('completed', SECRET)

describe('what is recorded', () => {
  it.each(['generate', 'drift', 'import'])('an accepted %s request, the first and the next', async (mode) => {
    const uuid = await begin(mode)
    await finish(uuid)
    expect((await as('ann', 'POST', `/iac/${mode}`, { session_id: uuid, q: SECRET })).status).toBe(202)
    const { items } = await read({ session_id: uuid })
    expect(items).toMatchObject(
      [2, 1].map((round) => ({
        action: 'round_accepted',
        actor: 'ann@example.org',
        user_id: ids.ann,
        session_id: uuid,
        address: '203.0.113.7',
        detail: { mode, round, is_partial: false, repository: outside.repository },
      })),
    )
    expect(items[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  it('an apply and its end, which the platform writes', async () => {
    const uuid = await begin()
    await finish(uuid)
    expect((await as('ann', 'POST', '/iac/apply', { session_id: uuid })).status).toBe(202)
    await (await runRound(core.context, uuid)).finish('failed', SECRET)
    expect((await read({ session_id: uuid })).items).toMatchObject([
      {
        action: 'apply_ended',
        actor: 'platform',
        user_id: ids.ann,
        address: null,
        detail: { mode: 'apply', round: 2, status: 'failed', repository: outside.repository },
      },
      {
        action: 'apply_accepted',
        actor: 'ann@example.org',
        address: '203.0.113.7',
        detail: { mode: 'apply', round: 2 },
      },
      { action: 'round_accepted' },
    ])
  })

  it('nothing of a request that is not accepted', async () => {
    const uuid = await begin()
    const before = (await read()).total
    for (const [path, json] of [
      ['/iac/generate', { ...first(), scope_id: '' }],
      ['/iac/generate', { session_id: uuid, q: 'while one runs' }],
      ['/iac/apply', { session_id: crypto.randomUUID() }],
      ['/iac/generate', { ...first(), repo_uri: `${outside.host.url}/acme/unknown.git` }],
    ] as const)
      await as('ann', 'POST', path, json)
    expect((await as('viewer', 'POST', '/iac/apply', { session_id: uuid })).status).toBe(403)
    expect((await read()).total).toBe(before)
  })

  it('a pull request, the same again, and its merge', async () => {
    const uuid = await outside.ranSession(core.context, ids.ann ?? 0)
    const opened = await as('ann', 'PUT', '/repository/pr', { session_id: uuid })
    const { id, url } = await opened.json()
    expect((await as('ann', 'PUT', '/repository/pr/merge', { session_id: uuid })).status).toBe(204)
    const detail = { provider: 'GITHUB', number: id, url }
    const who = { actor: 'ann@example.org', user_id: ids.ann, address: '203.0.113.7', detail }
    expect((await read({ session_id: uuid })).items).toMatchObject([
      { action: 'merge_completed', ...who },
      { action: 'merge_begun', ...who },
      { action: 'pull_request_opened', ...who },
      { action: 'round_accepted', actor: 'platform', user_id: ids.ann, address: null },
    ])
    // Some hosts return the existing pull request.
    const actor = { user_id: ids.ann ?? 0, name: 'ann@example.org', address: '203.0.113.7' }
    await recordPullRequest(core.context, uuid, { provider: 'GITHUB', number: id, url }, actor)
    expect((await read({ session_id: uuid })).items[0]).toMatchObject({ action: 'pull_request_updated', ...who })
    // The host refuses because it is merged already.
    expect((await as('ann', 'PUT', '/repository/pr/merge', { session_id: uuid })).status).toBeGreaterThanOrEqual(400)
    expect((await read({ session_id: uuid })).total).toBe(5)
  })

  it('locks by people and by the platform, when they change something', async () => {
    const uuid = await begin()
    const { round } = await runRound(core.context, uuid)
    await recordLockDecision(core.database.sql, round, true, [])
    await recordLockDecision(core.database.sql, round, true, [])
    const lock = (locked: boolean) =>
      as('editor', 'PATCH', `/admin/sessions/${uuid}/toggle_lock`, { locked, ...(!locked && { reason: ' Seen \n' }) })
    for (const locked of [true, false, false, true]) expect((await lock(locked)).status).toBe(200)
    const person = { actor: 'editor@example.org', user_id: ids.editor, address: '203.0.113.7' }
    expect((await read({ session_id: uuid })).items).toMatchObject([
      { action: 'session_locked', ...person, detail: {} },
      { action: 'session_unlocked', ...person, detail: { reason: 'Seen' } },
      { action: 'session_locked', actor: 'platform', user_id: ids.ann, address: null, detail: { round: 1 } },
      { action: 'round_accepted' },
    ])
  })

  it('changes of roles, with both states', async () => {
    const assign = (json: unknown) => as('admin', 'PUT', `/admin/users/${ids.viewer}/roles`, json)
    for (const panel_role of ['editor', 'editor', 'viewer'])
      expect((await assign({ operation_role: 'devops', panel_role })).status).toBe(200)
    expect((await as('admin', 'PUT', `/admin/users/${ids.admin}/roles`, { operation_role: 'devops' })).status).toBe(409)
    const { items } = await read({ action: 'roles_changed' })
    const detail = { user_id: ids.viewer, user: 'viewer@example.org' }
    const who = { actor: 'admin@example.org', user_id: ids.admin, session_id: null, address: '203.0.113.7' }
    expect(items).toEqual([
      expect.objectContaining({
        ...who,
        detail: {
          ...detail,
          from: { operation_role: 'devops', panel_role: 'editor' },
          to: { operation_role: 'devops', panel_role: 'viewer' },
        },
      }),
      expect.objectContaining({
        ...who,
        detail: {
          ...detail,
          from: { operation_role: 'developer', panel_role: 'viewer' },
          to: { operation_role: 'devops', panel_role: 'editor' },
        },
      }),
    ])
  })

  it('new users once, and the roles of the root user', async () => {
    const claims = { email: 'root@example.org', name: '=Root' }
    for (const email_verified of [false, false, true, true])
      expect((await as('root', 'GET', '/users/me', undefined, { ...claims, email_verified })).status).toBe(200)
    const { items } = await read({ user_email: 'ROOT@example' })
    const [{ id: root } = { id: 0 }] = await core.database.sql<{ id: number }[]>`
      SELECT id FROM users WHERE subject = 'root'`
    const who = { actor: 'root@example.org', user_id: root, address: '203.0.113.7' }
    expect(items).toEqual([
      expect.objectContaining({
        ...who,
        action: 'roles_changed',
        detail: {
          user_id: root,
          user: 'root@example.org',
          from: { operation_role: 'developer', panel_role: null },
          to: { operation_role: 'devops', panel_role: 'admin' },
        },
      }),
      expect.objectContaining({
        ...who,
        actor: '=Root',
        subject: 'root',
        action: 'user_created',
        detail: { user_id: root, user: '=Root', to: { operation_role: 'developer', panel_role: null } },
      }),
    ])
  })

  it('new users once also when they sign in many times at once', async () => {
    await Promise.all(Array.from({ length: 10 }, () => as('swarm', 'GET', '/users/me')))
    const { items } = await read({ action: 'user_created', page_size: 100 })
    const [swarm] = await core.database.sql<{ id: number }[]>`SELECT id FROM users WHERE subject = 'swarm'`
    expect(items.filter(({ user_id }) => user_id === swarm?.id)).toHaveLength(1)
  })
})

describe('one transaction', () => {
  const failingWith = async (statement: string, undo: string, work: () => Promise<void>) => {
    await core.database.sql.unsafe(statement)
    try {
      await work()
    } finally {
      await core.database.sql.unsafe(undo)
    }
  }

  it('takes nothing of an accepted request when it cannot be recorded', async () => {
    const counts = () => core.database.sql`
      SELECT (SELECT count(*) FROM sessions) AS s, (SELECT count(*) FROM audit_records) AS a`
    const before = await counts()
    await failingWith(
      'ALTER TABLE audit_records ADD CONSTRAINT none CHECK (false) NOT VALID',
      'ALTER TABLE audit_records DROP CONSTRAINT none',
      async () => {
        expect((await as('ann', 'POST', '/iac/generate', first())).status).toBe(500)
        const path = `/admin/users/${ids.viewer}/roles`
        expect((await as('admin', 'PUT', path, { operation_role: 'developer', panel_role: 'admin' })).status).toBe(500)
      },
    )
    expect([...(await counts())]).toEqual([...before])
    const [row] = await core.database.sql`SELECT panel_role FROM users WHERE id = ${ids.viewer ?? 0}`
    expect(row).toEqual({ panel_role: 'viewer' })
  })

  it('records nothing when what it tells of fails', async () => {
    const uuid = await begin()
    const before = await actionsOf(uuid)
    await failingWith(
      'ALTER TABLE sessions ADD CONSTRAINT open CHECK (NOT is_blocked) NOT VALID',
      'ALTER TABLE sessions DROP CONSTRAINT open',
      async () => {
        expect((await as('editor', 'PATCH', `/admin/sessions/${uuid}/toggle_lock`, { locked: true })).status).toBe(500)
      },
    )
    const total = (await read()).total
    await failingWith(
      'ALTER TABLE queued_rounds ADD CONSTRAINT stopped CHECK (false) NOT VALID',
      'ALTER TABLE queued_rounds DROP CONSTRAINT stopped',
      async () => {
        expect((await as('ann', 'POST', '/iac/generate', first())).status).toBe(500)
      },
    )
    expect(await actionsOf(uuid)).toEqual(before)
    expect((await read()).total).toBe(total)
  })
})

describe('GET /api/v1/admin/audit', () => {
  it('pages, newest first, and filters', async () => {
    const all = await read({ page_size: 100 })
    expect(Object.keys(all)).toEqual([
      'items',
      'total',
      'page',
      'page_size',
      'total_pages',
      'total_is_exact',
      'sign_in_refusals',
    ])
    expect(all.total).toBe(all.items.length)
    expect(all.items.map(({ id }) => id)).toEqual(all.items.map(({ id }) => id).sort((a, b) => b - a))
    const second = await read({ page: 2, page_size: 3 })
    expect(second.items).toEqual(all.items.slice(3, 6))
    expect(second.total_pages).toBe(Math.ceil(all.total / 3))
    expect((await read({ page: 99_999, page_size: 100 })).items).toEqual([])
    const pivot = all.items[5]?.at ?? ''
    expect((await read({ after: pivot, page_size: 100 })).items).toEqual(all.items.slice(0, 6))
    expect((await read({ before: pivot, page_size: 100 })).items).toEqual(all.items.slice(6))
    expect((await read({ after: pivot.replace('Z', '+00:00'), before: pivot })).items).toEqual([])
    const both = await read({ action: 'SESSION_LOCKED', user_email: 'editor', page_size: 100 })
    expect(both.items).toEqual(
      all.items.filter(({ action, user_id }) => action === 'session_locked' && user_id === ids.editor),
    )
    expect(both.total).toBeGreaterThan(0)
    expect((await read({ user_email: ' ', action: '', session_id: '', after: '', before: '' })).total).toBe(all.total)
    expect((await read({ session_id: crypto.randomUUID() })).total).toBe(0)
    expect((await read({ after: '0001-01-01T00:00:00Z', before: '9999-12-31T23:59:59.999999999Z' })).total).toBe(
      all.total,
    )
  })

  it.each([
    ['action=no_such', 'action'],
    ['session_id=x', 'session_id'],
    ['after=yesterday', 'after'],
    ['after=2026-01-31', 'after'],
    ['after=2026-01-31T10:00:00', 'after'],
    ['before=2026-02-30T10:00:00Z', 'before'],
    ['before=2026-01-31T25:00:00Z', 'before'],
    ['before=2026-01-31T10:00:00%2B99:00', 'before'],
    ["after=2026-01-31T10:00:00Z'; DROP TABLE users", 'after'],
    ['format=xml', 'format'],
    ['page=0', 'page'],
    ['page_size=101', 'page_size'],
    ['user_email=%00', 'user_email'],
  ])('refuses %s', async (query, key) => {
    expect(await refusalOf(as('viewer', 'GET', `/admin/audit?${query}`))).toMatchObject([
      422,
      [{ loc: ['query', key] }],
    ])
  })

  it('answers CSV when the query or the header asks for it', async () => {
    const { items } = await read({ action: 'roles_changed' })
    const token = await core.issuer.token('viewer')
    const csv = async (path: string, accept?: string) =>
      core.call('GET', `/api/v1/admin/audit?action=roles_changed${path}`, { token, headers: accept ? { accept } : {} })
    const answer = await csv('&format=csv')
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"')
    const text = await answer.text()
    const lines = text.split('\r\n')
    expect(lines[0]).toBe('id,at,action,actor,user_id,session_id,address,detail,subject')
    expect(lines.slice(1, -1).map((line) => Number(line.split(',')[0]))).toEqual(items.map(({ id }) => id))
    for (const accept of ['text/csv', 'text/csv;q=1, application/json', 'TEXT/CSV, */*'])
      expect(await (await csv('', accept)).text()).toBe(text)
    for (const accept of ['application/json', 'application/json, text/csv', '*/*', 'text/html'])
      expect((await csv('', accept)).headers.get('content-type')).toMatch(/^application\/json/)
    expect((await csv('&format=json', 'text/csv')).headers.get('content-type')).toMatch(/^application\/json/)
  })

  it('holds no text of a request, no token and no message of a round', async () => {
    const token = await core.issuer.token('viewer')
    const csv = await (await core.call('GET', '/api/v1/admin/audit?format=csv', { token })).text()
    const stored = await core.database.sql<{ all: string }[]>`
      SELECT string_agg(r::text, ' ') || coalesce((SELECT string_agg(s::text, ' ') FROM sign_in_refusals s), '') AS all
      FROM audit_records r`
    for (const text of [csv, stored[0]?.all ?? '', JSON.stringify(await read({ page_size: 100 }))]) {
      expect(text).toContain('ann@example.org')
      for (const word of [SECRET, 'Bearer', 'eyJ', 'token-of-the-bot', 'Add a bucket']) expect(text).not.toContain(word)
    }
  })

  it('a cancelled round, once, and the end of an apply that never ran', async () => {
    const uuid = await begin()
    await finish(uuid)
    expect((await as('ann', 'POST', '/iac/apply', { session_id: uuid })).status).toBe(202)
    expect((await as('ann', 'POST', '/iac/cancel', { session_id: uuid })).status).toBe(202)
    expect((await as('ann', 'POST', '/iac/cancel', { session_id: uuid })).status).toBe(409)
    expect((await read({ session_id: uuid })).items).toMatchObject([
      { action: 'apply_ended', actor: 'platform', detail: { round: 2, status: 'uncompleted' } },
      { action: 'round_cancelled', actor: 'ann@example.org', address: '203.0.113.7', detail: { round: 2 } },
      { action: 'apply_accepted' },
      { action: 'round_accepted' },
    ])
  })

  it('a state that a round adopts, in the name of its user', async () => {
    const uuid = await begin()
    const { round } = await runRound(core.context, uuid)
    await recordAdoption(core.context.sql, round, { backend: 's3', serial: 7 })
    expect((await read({ session_id: uuid })).items[0]).toMatchObject({
      ...{ action: 'state_adopted', actor: 'ann@example.org', address: null },
      detail: { backend: 's3', serial: 7 },
    })
  })

  it('has seen every action', async () => {
    const found = await core.database.sql<{ action: string }[]>`SELECT DISTINCT action FROM audit_records`
    const seen = found.map(({ action }) => action)
    expect(AUDIT_ACTIONS.filter((action) => !seen.includes(action))).toEqual([])
  })
})

describe('refused sign-ins', () => {
  it('are counted by reason and network, and answered with the page', async () => {
    const { sql, log, now } = { ...core.context, sql: core.database.sql }
    const refusals = createRefusalCounter({ sql, log, now })
    const app = await core.another({ context: { refusals } })
    const expired = await core.issuer.token('ann', { exp: 1 })
    const ask = (token: string | null, forwarded: string) =>
      app.request(
        '/api/v1/users/me',
        { headers: { 'x-forwarded-for': forwarded, ...(token && { authorization: `Bearer ${token}` }) } },
        { peer: PEER },
      )
    for (let n = 0; n < 30; n++) {
      expect((await ask(expired, `198.51.100.${n}`)).status).toBe(401)
      expect((await ask(null, '2001:db8::1')).status).toBe(401)
      expect((await ask(`${SECRET}.${SECRET}.x`, `1.2.${n}.4`)).status).toBe(401)
    }
    await refusals.flush()
    const { sign_in_refusals } = (await read()) as unknown as { sign_in_refusals: Record<string, unknown> }
    expect(sign_in_refusals).toMatchObject({
      total: 90,
      reasons: [
        { reason: 'Not authenticated', refusals: 30 },
        { reason: 'token has expired', refusals: 30 },
        { reason: 'token is malformed', refusals: 30 },
      ],
    })
    expect(sign_in_refusals.addresses).toContainEqual({ address_prefix: '198.51.100.0/24', refusals: 30 })
    expect(sign_in_refusals.addresses).toContainEqual({ address_prefix: '2001:db8::/48', refusals: 30 })
    expect(JSON.stringify(await core.database.sql`SELECT * FROM sign_in_refusals`)).not.toContain(SECRET)
  })
})

it('knows the address of the connection, and believes a header only of a configured proxy', async () => {
  const direct = await listen(core.app)
  const trusting = await core.another({
    yaml: `${outside.yaml}
oidc: { issuer_url: "${core.issuer.url}", client_id: core }
http: { trusted_proxies: ["127.0.0.1"] }`,
  })
  const proxied = await listen(trusting)
  const uuid = await begin()
  const lock = async (url: string, locked: boolean) => {
    const answer = await fetch(`${url}/api/v1/admin/sessions/${uuid}/toggle_lock`, {
      method: 'PATCH',
      headers: {
        ...FORWARDED,
        authorization: `Bearer ${await core.issuer.token('editor')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ locked, reason: 'checked' }),
    })
    expect(answer.status).toBe(200)
  }
  await lock(direct.url, true)
  await lock(proxied.url, false)
  await Promise.all([direct.close(100), proxied.close(100)])
  const { items } = await read({ session_id: uuid })
  expect(items.map(({ address }) => address)).toEqual(['203.0.113.7', '127.0.0.1', '203.0.113.7'])
})
