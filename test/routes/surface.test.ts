import { describe, expect, it } from 'vitest'
import { connect } from '../../src/data/db/pool.ts'
import { answerOf, callOf, createTestCore, refusalOf } from '../helpers/core.ts'
import { startOnce } from '../helpers/start-once.ts'

const core = startOnce(createTestCore)

const get = (path: string, headers?: Record<string, string>) => core.call('GET', path, { headers })

describe('paths', () => {
  it.each(['/api/v1/auth/config', '/v1/auth/config'])('serves %s', async (path) => {
    const answer = await get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  it.each([
    '/api/v1/nope',
    '/',
    '/api',
    '/api/api/v1/users/me',
    '/api/v1/events/subscribe',
    '/api/v1/admin/nope/',
  ])('answers 404 for %s', async (path) => {
    expect(await refusalOf(get(path))).toEqual([404, 'Not Found'])
  })

  it.each([
    ['DELETE', '/api/v1/users/me', 'GET'],
    ['GET', '/api/v1/iac/generate', 'POST'],
    ['HEAD', '/api/v1/users/me', 'GET'],
    ['DELETE', '/api/v1/sessions', 'GET'],
    ['POST', '/v1/repository/pr', 'PUT'],
    ['OPTIONS', '/api/v1/repository/parse', 'POST'],
    ['POST', '/api/v1/events/subscribe/x', 'GET'],
    ['POST', '/healthz', 'GET, HEAD'],
  ])('answers 405 for %s %s', async (method, path, allow) => {
    const answer = await core.call(method, path)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    expect(await answer.text()).toBe(method === 'HEAD' ? '' : '{"detail":"Method Not Allowed"}')
  })

  it('redirects the form with a trailing slash, with its query', async () => {
    const answer = await get('/api/v1/sessions/list/?page=2')
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/api/v1/sessions/list?page=2'])
    const body = await core.call('POST', '/v1/iac/generate/', { json: {} })
    expect([body.status, body.headers.get('location')]).toEqual([307, '/v1/iac/generate'])
  })

  it('redirects nowhere else', async () => {
    for (const path of ['//evil.example/', '/evil/', '//evil.example/api/v1/users/me/'])
      expect((await get(path)).status).toBe(404)
  })
})

describe('cross-origin requests', () => {
  const ORIGIN = 'http://localhost'
  const preflight = (origin: string, method = 'POST') =>
    core.call('OPTIONS', '/api/v1/iac/generate', {
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization, x-other',
      },
    })

  it('answers the preflight of a configured origin', async () => {
    const answer = await preflight(ORIGIN)
    expect([answer.status, await answer.text()]).toEqual([200, 'OK'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': 'authorization, x-other',
      vary: 'Origin',
    })
  })

  it.each([
    'http://localhost:3000',
    'https://localhost',
    'http://evil.example',
    'null',
    'http://localhost.evil.example',
  ])('refuses the preflight of %s', async (origin) => {
    const answer = await preflight(origin)
    expect([answer.status, await answer.text()]).toEqual([400, 'Disallowed CORS origin'])
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    expect(answer.headers.get('vary')).toBe('Origin')
  })

  it('marks simple answers, errors included', async () => {
    for (const path of ['/api/v1/auth/config', '/api/v1/nope', '/api/v1/sessions?id=x']) {
      const answer = await get(path, { origin: ORIGIN })
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
      expect(answer.headers.get('vary')).toBe('Origin')
      expect((await get(path, { origin: 'http://evil.example' })).headers.has('access-control-allow-origin')).toBe(
        false,
      )
      expect((await get(path)).headers.has('access-control-allow-origin')).toBe(false)
    }
  })

  it('takes a configured list instead of the default', async () => {
    const app = await core.another({ yaml: 'http: { cors_origins: ["https://a.example", "https://b.example"] }' })
    const allowed = async (origin: string) =>
      (await app.request('/api/v1/auth/config', { headers: { origin } })).headers.get('access-control-allow-origin')
    expect(await allowed('https://b.example')).toBe('https://b.example')
    expect(await allowed(ORIGIN)).toBeNull()
  })
})

describe('bodies', () => {
  const send = (body: BodyInit, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    core.app.request('/api/v1/repository/parse', { method: 'POST', body, headers })

  it('refuses more than the route takes, announced or not', async () => {
    const announced = await send('{}', { 'content-type': 'application/json', 'content-length': '65537' })
    const sent = await send(JSON.stringify({ repo_uri: 'x'.repeat(64 * 1024) }))
    for (const answer of [announced, sent]) {
      expect(answer.status).toBe(413)
      expect((await answer.json()).detail).toBe('Request body is larger than 65536 bytes (64 KiB).')
    }
  })

  it('takes long requests in plain words where there are some', async () => {
    const generate = (q: string) => core.call('POST', '/api/v1/iac/generate', { json: { q } })
    expect((await generate('x'.repeat(2_000_000))).status).toBe(422)
    expect(await refusalOf(generate('x'.repeat(2 * 1024 * 1024)))).toEqual([
      413,
      'Request body is larger than 2097152 bytes (2 MiB).',
    ])
  })

  it('says where malformed JSON is, and not what it holds', async () => {
    const answer = await send('{"repo_uri": "https://u:secret@h/x", }')
    expect(answer.status).toBe(422)
    const text = await answer.text()
    expect(JSON.parse(text).detail).toMatchObject([
      { type: 'json_invalid', loc: ['body', expect.any(Number)], msg: 'JSON decode error' },
    ])
    expect(text).not.toContain('secret')
  })

  it.each([
    ['no body', '', { 'content-type': 'application/json' }, 'missing'],
    ['null', 'null', { 'content-type': 'application/json' }, 'missing'],
    ['an array', '[]', { 'content-type': 'application/json' }, 'model_attributes_type'],
    ['a text', '"x"', { 'content-type': 'application/json' }, 'model_attributes_type'],
    ['another content type', '{"repo_uri":"https://h/x"}', { 'content-type': 'text/plain' }, 'model_attributes_type'],
  ])('refuses %s', async (_, body, headers, type) => {
    expect(await refusalOf(send(body, headers))).toMatchObject([422, [{ type, loc: ['body'] }]])
  })

  it('takes JSON under its other names', async () => {
    for (const type of ['application/problem+json', 'Application/JSON; charset=utf-8']) {
      const answer = await send('{}', { 'content-type': type })
      expect((await answer.json()).detail[0].loc).toEqual(['body', 'repo_uri'])
    }
  })

  it('answers 400 when the bytes are no UTF-8', async () => {
    expect(await refusalOf(send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])))).toEqual([
      400,
      'There was an error parsing the body',
    ])
  })

  it('does not fall for keys of the prototype', async () => {
    const answer = await send('{"__proto__": {"repo_uri": "https://h/x"}, "constructor": 1}')
    expect((await answer.json()).detail).toMatchObject([{ type: 'missing', loc: ['body', 'repo_uri'] }])
  })
})

describe('a database that is away', () => {
  it('is told with 503, and when to come back', async () => {
    const away = connect('postgresql://nobody@127.0.0.1:1/none', { patienceMs: 0 })
    const app = await core.another({ context: { sql: away } })
    const answer = await app.request('/api/v1/sessions')
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      503,
      '2',
      { detail: 'The database cannot be used at the moment. Try again in a few seconds.' },
    ])
  })
})

describe('unexpected errors', () => {
  it('answers one text and logs the rest with the id of the request', async () => {
    const app = await core.another({
      context: {
        storage: Object.defineProperty({ ...core.context.storage }, 'metadataPrefix', {
          get: () => {
            throw new Error('password is hunter2')
          },
        }),
      },
    })
    const answer = await app.request('/api/v1/auth/config', { headers: { 'x-request-id': 'abc-1' } })
    expect([answer.status, await answer.text()]).toEqual([500, '{"detail":"Internal Server Error"}'])
    expect(answer.headers.get('x-request-id')).toBe('abc-1')
    expect(core.log.find(({ message }) => message === 'unexpected error')).toMatchObject({
      request_id: 'abc-1',
      error: { message: 'password is hunter2' },
    })
  })

  it('shows texts of the domain and keeps their causes', async () => {
    const app = await core.another({
      yaml: 'services: { notifications: { enabled: true, token_env: N } }',
      env: { N: 'token' },
    })
    const json = { kind: 'k', severity: 'info', subject: 's', body: 'b' }
    const answer = await callOf(app)('POST', '/api/v1/notifications', { json })
    expect([answer.status, await answer.text()]).toEqual([502, '{"detail":"Notification was not delivered."}'])
    expect(core.log.find(({ message }) => message === 'request failed')).toMatchObject({
      cause: { message: 'the notifications service has no endpoint' },
    })
  })

  it('gives every request an id and refuses odd ones', async () => {
    const answer = await get('/api/v1/auth/config', { 'x-request-id': 'a b"c' })
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('health', () => {
  it('is alive and ready', async () => {
    expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' })
    expect(await answerOf(get('/readyz'))).toEqual([
      200,
      { status: 'ok', parts: { database: 'ok', cache: 'ok', queue: 'ok', storage: 'ok' } },
    ])
  })

  it('names the part that fails, and waits for none', async () => {
    const cache = { ...core.context.cache, ping: () => new Promise<void>(() => {}) }
    const queue = { ...core.context.queue, healthy: () => Promise.reject(new Error('gone')) }
    const app = await core.another({ context: { cache, queue } })
    expect(await answerOf(app.request('/readyz'))).toEqual([
      503,
      { status: 'unavailable', parts: { database: 'ok', cache: 'failed', queue: 'failed', storage: 'ok' } },
    ])
  })

  it('is ready without its cache and its object store, and says what that costs', async () => {
    const cache = { ...core.context.cache, ping: () => Promise.reject(new Error('gone')) }
    const storage = { ...core.context.storage, isOn: () => false }
    const app = await core.another({ context: { cache, storage } })
    expect(await answerOf(app.request('/readyz'))).toEqual([
      200,
      {
        status: 'degraded',
        parts: { database: 'ok', cache: 'failed', queue: 'ok', storage: 'failed' },
        effects: {
          cache: expect.stringContaining('Session details are read from the database'),
          storage: expect.stringContaining('rounds wait for the store'),
        },
      },
    ])
  })

  it('is not part of the API', async () => {
    expect((await get('/api/healthz')).status).toBe(404)
  })
})
