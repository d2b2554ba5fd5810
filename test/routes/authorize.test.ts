import { HttpResponse } from 'msw'
import { describe, expect, it } from 'vitest'
import { answerOf, callOf, refusalOf } from '../helpers/core.ts'
import { createIssuer } from '../helpers/issuer.ts'
import { provideCoreWithSidecar, testFaults } from './sidecar.ts'

const PATH = '/api/v1/auth/authorize'
const BODY = { cloud: 'aws', project_name: 'https://github.com/acme/infra.git', environment: 'live/network' }
const ENABLED = 'services: { authz: { enabled: true, endpoint: "http://authz.test:8083/", token_env: T, timeout: 1 } }'
const env = { T: 'token-of-authz' }
const usual = () => HttpResponse.json({ authorized: true, portal_url: null, reason: null })
const { core, sidecar, server } = provideCoreWithSidecar('http://authz.test:8083/v1/check', usual, {
  yaml: ENABLED,
  env,
})

const ask = (json: unknown = BODY) => core.call('POST', PATH, { json })

describe('what is asked', () => {
  it('is the cloud, the project, the environment and who asks, with the token of the service', async () => {
    expect((await ask({ ...BODY, scope_id: 'never part of it', other: 1 })).status).toBe(200)
    const [call] = sidecar.calls
    expect(call?.body).toEqual({
      user_id: 'dev@platform.local',
      cloud: 'aws',
      project: BODY.project_name,
      environment: 'live/network',
    })
    expect(call?.headers.get('authorization')).toBe('Bearer token-of-authz')
    expect(call?.headers.get('content-type')).toBe('application/json')
    expect([...(call?.headers.keys() ?? [])].filter((name) => name.startsWith('x-user'))).toEqual([])
  })

  it.each(['', '  '])('leaves a blank environment out: %j', async (environment) => {
    await ask({ ...BODY, environment })
    expect(sidecar.calls[0]?.body).toEqual({ user_id: 'dev@platform.local', cloud: 'aws', project: BODY.project_name })
  })

  it('names the token subject when there is no e-mail, and forwards no token of the caller', async () => {
    const issuer = await createIssuer()
    server.use(...issuer.handlers)
    const app = await core.another({ yaml: `oidc: { issuer_url: "${issuer.url}", client_id: core }\n${ENABLED}`, env })
    const headers = { 'x-user-id': 'root', 'x-user-email': 'root@example.org' }
    const as = async (claims: Record<string, string>) =>
      callOf(app)('POST', PATH, { json: BODY, headers, token: await issuer.token('subject-1', claims) })
    expect((await as({})).status).toBe(200)
    expect((await as({ email: 'ada@example.org' })).status).toBe(200)
    expect(sidecar.calls.map(({ body }) => body)).toMatchObject([
      { user_id: 'subject-1' },
      { user_id: 'ada@example.org' },
    ])
    for (const { headers } of sidecar.calls) {
      expect(headers.get('authorization')).toBe('Bearer token-of-authz')
      expect([headers.get('x-user-id'), headers.get('x-user-email')]).toEqual([null, null])
    }
  })
})

describe('what is answered', () => {
  it.each([true, false])('is the decision: %s', async (authorized) => {
    const portal_url = 'https://portal.example/project?tab=access#top'
    sidecar.answers(() => HttpResponse.json({ authorized, portal_url, reason: 'Because.', other: 1 }))
    expect(await answerOf(ask())).toEqual([200, { result: authorized, message: 'Because.', portalUrl: portal_url }])
  })

  it.each([
    [true, 'live', 'Authorized on proj'],
    [false, 'live', 'Not authorized on aws/proj (live)'],
    [false, '', 'Not authorized on aws/proj'],
  ])('has a sentence of its own where there is no reason: %s', async (authorized, environment, message) => {
    for (const rest of [{ reason: null, portal_url: null }, {}, { reason: ' ' }]) {
      sidecar.answers(() => HttpResponse.json({ authorized, ...rest }))
      expect(await answerOf(ask({ cloud: 'aws', project_name: 'proj', environment }))).toEqual([
        200,
        { result: authorized, message, portalUrl: null },
      ])
    }
  })

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '/relative',
    '',
  ])('has no link that is no web address: %j', async (portal_url) => {
    sidecar.answers(() => HttpResponse.json({ authorized: true, portal_url, reason: 'r' }))
    expect(await (await ask()).json()).toEqual({ result: true, message: 'r', portalUrl: null })
  })
})

describe('body', () => {
  it.each(['cloud', 'project_name', 'environment'])('needs %s as a text', async (key) => {
    for (const [value, type] of [
      [undefined, 'missing'],
      [null, 'string_type'],
      [7, 'string_type'],
    ]) {
      expect(await refusalOf(ask({ ...BODY, [key as string]: value }))).toMatchObject([
        422,
        [{ type, loc: ['body', key] }],
      ])
    }
    expect(sidecar.calls).toEqual([])
  })

  it('has no bounds here: the sidecar has its own, and refuses with 502 for the caller', async () => {
    const long = { cloud: 'c'.repeat(33), project_name: 'p'.repeat(257), environment: 'e'.repeat(33) }
    expect((await ask(long)).status).toBe(200)
    expect(sidecar.calls[0]?.body).toMatchObject({
      cloud: long.cloud,
      project: long.project_name,
      environment: long.environment,
    })
    sidecar.answers(() => HttpResponse.json({ title: 'Request validation failed' }, { status: 422 }))
    expect((await ask(long)).status).toBe(502)
  })
})

describe('a sidecar that is disabled', () => {
  it.each([
    'enabled: false, endpoint: "http://authz.test:8083"',
    '',
  ])('means yes, and is not contacted: {%s}', async (settings) => {
    const app = await core.another({ yaml: `services: { authz: { ${settings} } }` })
    const message = 'authz service disabled in system config'
    for (const environment of ['', 'e'.repeat(33)]) {
      const answer = await answerOf(callOf(app)('POST', PATH, { json: { ...BODY, environment } }))
      expect(answer).toEqual([200, { result: true, message, portalUrl: null }])
    }
    expect(sidecar.calls).toEqual([])
  })
})

describe('a sidecar that fails', () => {
  testFaults('authz', sidecar, {
    ask,
    limitS: 15,
    invalid: [
      ['authorized as a text', () => HttpResponse.json({ authorized: 'true' })],
      ['a reason that is no text', () => HttpResponse.json({ authorized: true, reason: { html: 'internal words' } })],
      ['a reason that is too long', () => HttpResponse.json({ authorized: true, reason: '😀'.repeat(1025) })],
      [
        'a link that is too long',
        () => HttpResponse.json({ authorized: true, portal_url: `https://h/${'x'.repeat(2048)}` }),
      ],
      ['text that is none', () => new HttpResponse('{"authorized":true,"reason":"\\ud800"}')],
    ],
  })

  it('may use the whole length of a reason, counted in characters', async () => {
    sidecar.answers(() => HttpResponse.json({ authorized: true, reason: '😀'.repeat(1024) }))
    expect((await ask()).status).toBe(200)
  })

  it.each(['""', '"not an address"'])('by having the endpoint %s is 502', async (endpoint) => {
    const app = await core.another({
      yaml: `services: { authz: { enabled: true, endpoint: ${endpoint}, token_env: T } }`,
      env,
    })
    expect(await refusalOf(callOf(app)('POST', PATH, { json: BODY }))).toEqual([
      502,
      expect.stringMatching(/^authz service unreachable: /),
    ])
  })
})
