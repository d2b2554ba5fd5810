import { HttpResponse, http } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createIssuer, type Issuer } from '../helpers/issuer.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { shortenTimers } from '../pull-requests/support.ts'

/* Texts that clients of the API may rely on, written here because changing one in the code breaks clients. */

const UNKNOWN = '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11'
const REPOSITORY = 'https://github.com/acme/infra'
const PULLS = 'https://api.github.com/repos/acme/infra/pulls'
const FIRST = { q: 'x', repo_uri: REPOSITORY, scope_id: 's', engine_providers: 'aws' }
const MESSAGE = { kind: 'k', severity: 'info', subject: 's', body: 'b' }
const SERVICES = 'http://services.test'

const server = interceptRequests()
let core: TestCore
let issuer: Issuer
let disabled: TestCore['app']
/** A session of the caller `ada`, who is devops and panel admin. */
let open: string
let locked: string
let foreign: string
let ada: number

beforeAll(async () => {
  issuer = await createIssuer()
  const oidc = `oidc: { issuer_url: "${issuer.url}", client_id: core }`
  const service = `{ enabled: true, endpoint: "${SERVICES}", token_env: T }`
  core = await createTestCore({
    yaml: `${oidc}\nservices: { authz: ${service}, mapping: ${service}, notifications: ${service} }`,
    env: { T: 't' },
  })
  disabled = await core.another({ yaml: oidc })
  const { sql } = core.database
  ada = (await createUser(sql, 'ada', { operation_role: 'devops', panel_role: 'admin' })).id
  await createUser(sql, 'dev')
  const finished = async (owner: number) => {
    const uuid = await openSession(core.context, owner, { repo_uri: REPOSITORY })
    await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
    return uuid
  }
  open = await finished(ada)
  locked = await finished(ada)
  foreign = await finished((await createUser(sql, 'bob')).id)
  await sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${locked}`
})
afterAll(() => core.close())
afterEach(() => void vi.unstubAllGlobals())

async function call(method: string, path: string, json?: unknown, subject = 'ada', app = core.app): Promise<Response> {
  server.use(...issuer.handlers)
  return app.request(`/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await issuer.token(subject)}` },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
}
const told = async (answer: Promise<Response>): Promise<[number, unknown]> => {
  const { status, ...rest } = await answer.then(async (given) => ({ status: given.status, body: await given.json() }))
  return [status, rest.body.detail]
}
const fault = async (answer: Promise<Response>): Promise<string> => {
  const [status, detail] = await told(answer)
  expect([status, detail]).toEqual([422, [expect.anything()]])
  return (detail as { msg: string }[])[0]?.msg ?? ''
}

describe('identity and roles', () => {
  it('401', async () => {
    const none = await core.call('GET', '/api/v1/users/me')
    expect([none.status, none.headers.get('www-authenticate'), await none.json()]).toEqual([
      401,
      'Bearer',
      { detail: 'Not authenticated' },
    ])
    const bad = await core.call('GET', '/api/v1/users/me', { token: 'x' })
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
    expect((await bad.json()).detail).toMatch(/^Token validation failed: ./)
  })

  it('403', async () => {
    expect(await told(call('POST', '/iac/drift', FIRST, 'dev'))).toEqual([
      403,
      "Requires operation role 'devops' or higher",
    ])
    expect(await told(call('GET', '/admin/sessions/list', undefined, 'dev'))).toEqual([
      403,
      "Requires admin-panel role 'viewer' or higher",
    ])
    expect(await told(call('GET', '/admin/audit', undefined, 'dev'))).toEqual([
      403,
      "Requires admin-panel role 'viewer' or higher",
    ])
    expect(await told(call('PATCH', `/admin/sessions/${open}/toggle_lock`, { locked: true }, 'dev'))).toEqual([
      403,
      "Requires admin-panel role 'editor' or higher",
    ])
    expect(await told(call('GET', '/admin/users', undefined, 'dev'))).toEqual([
      403,
      "Requires admin-panel role 'admin' or higher",
    ])
    expect(await told(call('GET', `/sessions?id=${open}`, undefined, 'dev'))).toEqual([403, 'Not the session owner'])
    expect(await told(call('POST', '/iac/apply', { session_id: foreign }))).toEqual([403, 'Not the session owner'])
  })

  it('409 of an admin', async () => {
    const answer = call('PUT', `/admin/users/${ada}/roles`, { operation_role: 'devops' })
    expect(await told(answer)).toEqual([409, 'A panel admin cannot remove their own admin role'])
  })
})

describe('what is not there', () => {
  const SESSION = 'Session 5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11 not found.'
  it.each([
    ['POST', '/iac/generate', { q: 'x', session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/drift', { q: 'x', session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/import', { q: 'x', session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/apply', { session_id: UNKNOWN }, SESSION],
    ['POST', '/iac/cancel', { session_id: UNKNOWN }, SESSION],
    ['GET', `/events/subscribe/${UNKNOWN}`, undefined, SESSION],
    ['GET', `/events/activity/${UNKNOWN}`, undefined, SESSION],
    ['GET', `/events/output/${UNKNOWN}`, undefined, SESSION],
    ['POST', '/iac/seal/verify', { session_id: UNKNOWN }, SESSION],
    ['PUT', '/repository/pr', { session_id: UNKNOWN }, SESSION],
    ['PUT', '/repository/pr/merge', { session_id: UNKNOWN }, SESSION],
    ['GET', `/sessions?id=${UNKNOWN}`, undefined, SESSION],
    ['GET', `/admin/sessions?id=${UNKNOWN}`, undefined, SESSION],
    ['PATCH', `/admin/sessions/${UNKNOWN}/toggle_lock`, { locked: true }, SESSION],
    ['PUT', '/admin/users/999999/roles', { operation_role: 'developer' }, 'User 999999 not found.'],
    ['GET', '/nowhere', undefined, 'Not Found'],
  ])('404 of %s %s', async (method, path, json, text) => {
    expect(await told(call(method, path, json))).toEqual([404, text])
  })

  it('404 without pull requests, 405', async () => {
    expect(await told(call('PUT', '/repository/pr/merge', { session_id: open }))).toEqual([
      404,
      expect.stringContaining('no pull requests'),
    ])
    expect(await told(call('DELETE', '/users/me'))).toEqual([405, 'Method Not Allowed'])
  })
})

describe('the lock', () => {
  it('409', async () => {
    expect(await told(call('POST', '/iac/apply', { session_id: locked }))).toEqual([
      409,
      `Session ${locked} is blocked; apply is not allowed.`,
    ])
    expect(await told(call('PUT', '/repository/pr/merge', { session_id: locked }))).toEqual([
      409,
      `Session ${locked} is blocked; PR merge is not allowed.`,
    ])
  })
})

describe('repositories', () => {
  it.each(['/iac/generate', '/iac/drift', '/iac/import', '/repository/parse'])('400 of %s', async (path) => {
    server.use(http.get(`${REPOSITORY}/info/refs`, () => HttpResponse.error()))
    expect(await told(call('POST', path, FIRST))).toEqual([400, 'Repository is not reachable or access was denied.'])
  })

  it('a clone that fails after a list has the same text', async () => {
    server.use(
      listedRepository(REPOSITORY),
      http.post(`${REPOSITORY}/git-upload-pack`, () => new HttpResponse('internal words', { status: 500 })),
    )
    expect(await told(call('POST', '/repository/parse', FIRST))).toEqual([
      502,
      'Repository is not reachable or access was denied.',
    ])
  })

  it('pull requests', async () => {
    const elsewhere = await openSession(core.context, ada, { repo_uri: 'https://ada@git.example.com/acme/infra.git' })
    expect(await told(call('PUT', '/repository/pr', { session_id: elsewhere }))).toEqual([
      400,
      "Malformed repository URL 'git.example.com/acme/infra'",
    ])
    const uuid = await openSession(core.context, ada, { repo_uri: REPOSITORY })
    await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
    await recordPullRequest(core.context, uuid, { provider: 'GITHUB', number: 7, url: `${REPOSITORY}/pull/7` })
    const merge = (mergeable: boolean | null) => {
      server.use(http.get(`${PULLS}/7`, () => HttpResponse.json({ state: 'open', mergeable })))
      return told(call('PUT', '/repository/pr/merge', { session_id: uuid }))
    }
    expect(await merge(false)).toEqual([400, 'Pull Request 7 cannot be merged.'])
    shortenTimers(1_000)
    expect(await merge(null)).toEqual([504, 'Pull Request 7 readiness polling exhausted.'])
  })
})

describe('bodies', () => {
  const EXACTLY_ONE = 'Value error, Exactly one of `repo_uri` or `session_id` must be provided.'
  const PATH = "Value error, iac_path must be a repo-relative path (not absolute) and must not contain '..' segments"
  const INHERITED = 'Value error, iac_path is set only on the first call; iteration calls inherit it from the session.'

  it.each(['/iac/generate', '/iac/drift', '/iac/import'])('422 of %s', async (path) => {
    const text = (changes: object) => fault(call('POST', path, { ...FIRST, ...changes }))
    expect(await text({ session_id: UNKNOWN })).toBe(EXACTLY_ONE)
    expect(await text({ repo_uri: null })).toBe(EXACTLY_ONE)
    expect(await text({ engine_providers: null })).toBe(
      'Value error, First call (repo_uri) requires `engine_providers`.',
    )
    expect(await text({ scope_id: null })).toBe('Value error, First call (repo_uri) requires `scope_id`.')
    expect(await text({ repo_uri: null, session_id: UNKNOWN, iac_path: 'a' })).toBe(INHERITED)
    expect(await text({ iac_path: '/a' })).toBe(PATH)
    expect(await text({ iac_path: 'a/../b' })).toBe(PATH)
    expect(await text({ q: undefined })).toBe('Field required')
    expect(await text({ q: '' })).toBe('String should have at least 1 character')
    expect(await text({ engine_providers: 'ibm' })).toBe("Input should be 'azure', 'gcp', 'aws', 'oci' or 'kubernetes'")
  })

  it('422 of partial rounds and of an import', async () => {
    const drift = { ...FIRST, q: ' ', is_partial: true }
    expect(await fault(call('POST', '/iac/drift', drift))).toContain('Partial drift detection requires a non-empty q')
    expect(await fault(call('POST', '/iac/import', drift))).toBe(
      'Value error, Partial import requires a non-empty `q`.',
    )
    expect(await fault(call('POST', '/iac/import', { ...FIRST, scope_id: ' ' }))).toBe(
      'Value error, The `scope_id` must be provided when `repo_uri` is set.',
    )
  })

  it('422 of lists, keys and JSON', async () => {
    expect(await fault(call('GET', '/sessions/list?page=0'))).toBe('Input should be greater than or equal to 1')
    expect(await fault(call('GET', '/sessions/list?page_size=101'))).toBe('Input should be less than or equal to 100')
    expect(await fault(call('GET', `/sessions/list?search=${'x'.repeat(201)}`))).toBe(
      'String should have at most 200 characters',
    )
    expect(await fault(call('GET', '/sessions/list?page=x'))).toBe(
      'Input should be a valid integer, unable to parse string as an integer',
    )
    expect(await fault(call('GET', '/sessions?id=x'))).toMatch(/^Input should be a valid UUID, ./)
    expect(await fault(call('PATCH', `/admin/sessions/${open}/toggle_lock`, { locked: 'x' }))).toBe(
      'Input should be a valid boolean, unable to interpret input',
    )
    expect(await fault(call('POST', '/mapping/resolve', { identifier: 'x', other: 1 }))).toBe(
      'Extra inputs are not permitted',
    )
    expect(await fault(call('POST', '/notifications', { ...MESSAGE, audience: [] }))).toBe(
      'Extra inputs are not permitted',
    )
    const broken = core.app.request('/api/v1/iac/generate', {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await issuer.token('ada')}` },
    })
    expect(await fault(Promise.resolve(broken))).toBe('JSON decode error')
  })
})

describe('services', () => {
  const AUTHORIZE = { cloud: 'aws', project_name: 'proj', environment: 'live' }
  const authorize = () => call('POST', '/auth/authorize', AUTHORIZE)
  const resolve = () => call('POST', '/mapping/resolve', { identifier: 'x' })
  const notify = () => call('POST', '/notifications', MESSAGE)
  const answers = (respond: () => Response) => server.use(http.post(`${SERVICES}/v1/:what`, respond))

  it('disabled', async () => {
    const answer = await call('POST', '/auth/authorize', AUTHORIZE, 'ada', disabled)
    expect(await answer.json()).toEqual({
      result: true,
      message: 'authz service disabled in system config',
      portalUrl: null,
    })
    expect(await told(call('POST', '/notifications', MESSAGE, 'ada', disabled))).toEqual([
      503,
      'Notifications are disabled.',
    ])
  })

  it('decisions without a reason', async () => {
    answers(() => HttpResponse.json({ authorized: true }))
    expect((await (await authorize()).json()).message).toBe('Authorized on proj')
    answers(() => HttpResponse.json({ authorized: false }))
    expect((await (await authorize()).json()).message).toBe('Not authorized on aws/proj (live)')
  })

  it('502', async () => {
    answers(() => HttpResponse.error())
    expect(await told(authorize())).toEqual([502, expect.stringMatching(/^authz service unreachable: ./)])
    expect(await told(resolve())).toEqual([502, expect.stringMatching(/^mapping service unreachable: ./)])
    expect(await told(notify())).toEqual([502, 'Notification was not delivered.'])
    answers(() => HttpResponse.json({}, { status: 500 }))
    expect(await told(authorize())).toEqual([
      502,
      expect.stringMatching(/^authz service returned an unexpected response: ./),
    ])
    expect(await told(resolve())).toEqual([
      502,
      expect.stringMatching(/^mapping service returned an unexpected response: ./),
    ])
    expect(await told(notify())).toEqual([502, 'Notification was not delivered.'])
  })
})

describe('the rest', () => {
  it('a round of the apply route is named', async () => {
    const uuid = await openSession(core.context, ada)
    await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
    await call('POST', '/iac/apply', { session_id: uuid })
    const session = await (await call('GET', `/sessions?id=${uuid}`)).json()
    expect(session.rounds[1].query).toBe('Engine apply.')
  })

  it('an owner without e-mail', async () => {
    const nameless = await createUser(core.database.sql, 'nameless', { email: null })
    const uuid = await openSession(core.context, nameless.id)
    expect((await (await call('GET', `/sessions?id=${uuid}`)).json()).username).toBe(`user-${nameless.id}`)
  })

  it('a stream begins with a comment and is not buffered', async () => {
    const answer = await call('GET', `/events/subscribe/${open}`)
    const headers = Object.fromEntries(answer.headers)
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', connection: 'keep-alive', 'x-accel-buffering': 'no' })
    expect(headers['content-type']).toMatch(/^text\/event-stream\b/)
    expect(await answer.text()).toBe(
      ': keepalive\n\ndata: {"status_msg":"COMPLETED","detail":{"message":"GENERATE"}}\n\n',
    )
  })

  it('an unexpected error', async () => {
    const storage = Object.defineProperty({ ...core.context.storage }, 'metadataPrefix', {
      get: () => {
        throw new Error('internal words')
      },
    })
    const app = await core.another({ context: { storage } })
    const answer = await app.request('/api/v1/auth/config')
    expect([answer.status, await answer.text()]).toEqual([500, '{"detail":"Internal Server Error"}'])
  })
})
