import { beforeAll, describe, expect, it } from 'vitest'
import { callOf, refusalOf } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { provideSignedInCore } from '../helpers/signed-in-core.ts'
import { readStream } from '../helpers/sse.ts'

const core = provideSignedInCore('admin: { default_root_email: Root@Example.org }')
let uuid: string

beforeAll(async () => {
  const owner = await createUser(core.database.sql, 'owner')
  await createUser(core.database.sql, 'stranger', { operation_role: 'devops' })
  for (const role of ['viewer', 'editor', 'admin'] as const)
    await createUser(core.database.sql, role, { panel_role: role })
  uuid = await openSession(core.context, owner.id)
  await (await runRound(core.context, uuid)).finish('completed', 'done', [{ user: 'a', assistant: 'b' }])
})

const ROUTES: [string, string][] = [
  ['POST', '/api/v1/iac/generate'],
  ['GET', `/api/v1/events/subscribe/${crypto.randomUUID()}`],
  ['GET', `/api/v1/events/activity/${crypto.randomUUID()}?after=x`],
  ['GET', `/api/v1/events/output/${crypto.randomUUID()}`],
  ['GET', '/api/v1/sessions?id=x'],
  ['GET', '/api/v1/sessions/list?page=0'],
  ['PUT', '/api/v1/repository/pr'],
  ['POST', '/api/v1/repository/parse'],
  ['GET', '/api/v1/users/me'],
]

describe('with an issuer', () => {
  it.each(ROUTES)('%s %s needs a token, before anything is validated', async (method, path) => {
    for (const headers of [undefined, { authorization: 'Basic dTpw' }, { authorization: 'Bearer' }] as (
      | Record<string, string>
      | undefined
    )[]) {
      const answer = await core.call(method, path, { json: method === 'GET' ? undefined : { q: 7 }, headers })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await answer.json()).toEqual({ detail: 'Not authenticated' })
    }
    const bad = await core.call(method, path, { token: 'garbage' })
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
    expect(await bad.json()).toEqual({ detail: 'Token validation failed: token is malformed' })
  })

  it('does not take the token from the query', async () => {
    const answer = await core.call('GET', `/api/v1/events/subscribe/${uuid}?token=${await core.issuer.token('owner')}`)
    expect(answer.status).toBe(401)
  })

  it.each([
    '/api/v1/auth/config',
    '/healthz',
    '/api/openapi.json',
    '/api/docs',
    '/api/redoc',
  ])('leaves %s public', async (path) => {
    expect((await core.call('GET', path)).status).toBe(200)
    expect((await core.call('GET', path, { token: 'garbage' })).status).toBe(200)
  })

  it('answers 404 and 405 without a token', async () => {
    expect((await core.call('GET', '/api/v1/nope')).status).toBe(404)
    expect((await core.call('DELETE', '/api/v1/users/me')).status).toBe(405)
  })
})

describe('the caller', () => {
  it('is one row for issuer and subject, made on first sight', async () => {
    const first = await (await core.as('ada', 'GET', '/api/v1/users/me')).json()
    expect(first).toEqual({
      id: expect.any(Number),
      email: null,
      display_name: null,
      operation_role: 'developer',
      panel_role: null,
    })
    const token = await core.issuer.token('ada', { iss: `${core.issuer.url}/`, email: 'ada@example.org', name: 'Ada' })
    const again = await (await core.call('GET', '/api/v1/users/me', { token })).json()
    expect(again).toEqual({ ...first, email: 'ada@example.org', display_name: 'Ada' })
    expect((await (await core.as('bob', 'GET', '/api/v1/users/me')).json()).id).not.toBe(first.id)
  })

  it('has the roles of its row at once', async () => {
    await core.as('carl', 'GET', '/api/v1/users/me')
    await core.database.sql`UPDATE users SET panel_role = 'viewer' WHERE subject = 'carl'`
    expect(await (await core.as('carl', 'GET', '/api/v1/users/me')).json()).toMatchObject({ panel_role: 'viewer' })
  })

  it('is elevated on every request when it is the root address', async () => {
    const claims = { email: 'root@example.org', email_verified: true }
    const me = async () =>
      (await core.call('GET', '/api/v1/users/me', { token: await core.issuer.token('root', claims) })).json()
    expect(await me()).toMatchObject({ operation_role: 'devops', panel_role: 'admin' })
    await core.database.sql`UPDATE users SET operation_role = 'developer', panel_role = NULL WHERE subject = 'root'`
    expect(await me()).toMatchObject({ operation_role: 'devops', panel_role: 'admin' })
    const cleared = await core.another({ yaml: `oidc: { issuer_url: "${core.issuer.url}", client_id: core }` })
    const kept = await callOf(cleared)('GET', '/api/v1/users/me', { token: await core.issuer.token('root', claims) })
    expect(await kept.json()).toMatchObject({ operation_role: 'devops', panel_role: 'admin' })
  })

  it('is refused when its subject cannot be stored', async () => {
    const answer = await core.as('x'.repeat(255), 'GET', '/api/v1/users/me')
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
  })
})

describe('without an issuer', () => {
  it('is the local developer, whatever the header says', async () => {
    const app = await core.another({ yaml: 'admin: { default_root_email: root@example.org }' })
    const me = async (headers: Record<string, string>) => (await app.request('/api/v1/users/me', { headers })).json()
    const first = await me({})
    expect(first).toEqual({
      id: expect.any(Number),
      email: 'dev@platform.local',
      display_name: 'Local Developer',
      operation_role: 'devops',
      panel_role: 'admin',
    })
    expect(await me({ authorization: 'Bearer garbage' })).toEqual(first)
    await core.database.sql`UPDATE users SET operation_role = 'developer', panel_role = NULL WHERE id = ${first.id}`
    expect(await me({})).toEqual(first)
  })
})

describe('sessions of others', () => {
  it.each([
    ['detail', '/api/v1/sessions?id='],
    ['events', '/api/v1/events/subscribe/'],
    ['activity', '/api/v1/events/activity/'],
    ['output', '/api/v1/events/output/'],
  ])('%s: 404 when unknown, whoever asks', async (_, path) => {
    const unknown = crypto.randomUUID()
    const missing = [404, `Session ${unknown} not found.`]
    for (const subject of ['owner', 'stranger', 'admin'])
      expect(await refusalOf(core.as(subject, 'GET', `${path}${unknown}`))).toEqual(missing)
  })

  it('are not in the own list, not even for a panel admin', async () => {
    for (const subject of ['stranger', 'admin'])
      expect(await (await core.as(subject, 'GET', '/api/v1/sessions/list')).json()).toMatchObject({
        items: [],
        total: 0,
      })
    expect(await (await core.as('owner', 'GET', '/api/v1/sessions/list')).json()).toMatchObject({ total: 1 })
  })
})

describe('a stream', () => {
  it('goes on when role and token are gone', async () => {
    const owner = await createUser(core.database.sql, 'streamer')
    const running = await openSession(core.context, owner.id)
    await createUser(core.database.sql, 'watcher', { panel_role: 'viewer' })
    const now = Math.floor(Date.now() / 1000)
    const token = await core.issuer.token('watcher', { exp: now - 58 })
    const stream = readStream(await core.call('GET', `/api/v1/events/subscribe/${running}`, { token }))
    expect(await stream.event()).toMatchObject({ status_msg: 'STARTED' })
    await core.database.sql`UPDATE users SET panel_role = NULL WHERE subject = 'watcher'`
    await (await runRound(core.context, running)).finish('completed', 'done')
    expect(await stream.rest()).toMatchObject([{ status_msg: 'COMPLETED' }])
  })
})
