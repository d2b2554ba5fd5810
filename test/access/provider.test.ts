import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { listen } from '../helpers/listen.ts'
import { startOnce } from '../helpers/start-once.ts'
import { CLIENT_ID, startIdentityProvider } from './provider.ts'

const KEYS = '/jwks'
const provider = startOnce(startIdentityProvider)
const core = startOnce(() => createTestCore({ yaml: yaml() }))
/** Sets the clock so many seconds ahead of the real one. */
const setClock = (ahead: number) => {
  vi.useRealTimers()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ahead * 1000 })
}
afterEach(() => {
  vi.useRealTimers()
})

const yaml = (more = '', admin = '') =>
  `oidc: { issuer_url: "${provider.url}/", client_id: ${CLIENT_ID}${more} }\nadmin: { default_root_email: "${admin}" }`
const me = (token: string, app: Pick<TestCore['app'], 'request'> = core.app) =>
  app.request('/api/v1/users/me', { headers: { authorization: `Bearer ${token}` } })
const user = async (token: string, app?: Pick<TestCore['app'], 'request'>) => {
  const answer = await me(token, app)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, unknown>
}
const refused = async (token: string, reason: string, app?: Pick<TestCore['app'], 'request'>) => {
  const answer = await me(token, app)
  expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  expect([answer.status, await answer.json()]).toEqual([401, { detail: `Token validation failed: ${reason}` }])
}
const keyRequests = () => provider.asked.filter((path) => path === KEYS).length

describe('people who log in at a certified provider', () => {
  it('are not looked for before the first token comes', async () => {
    for (const path of ['/api/v1/auth/config', '/api/v1/users/me', '/healthz']) await core.app.request(path)
    expect(provider.asked).toEqual([])
  })

  it('are known by identity token and access token alike', async () => {
    provider.accounts.set('ada', { email: 'ada@example.org', email_verified: true, name: 'Ada' })
    const { id_token, access_token } = await provider.logIn('ada')
    expect([decodeJwt(id_token).aud, decodeJwt(access_token).aud]).toEqual([CLIENT_ID, `api://${CLIENT_ID}`])
    expect([id_token, access_token].map((token) => decodeProtectedHeader(token).alg)).toEqual(['RS256', 'ES256'])
    const first = await user(id_token)
    expect(first).toEqual({
      id: expect.any(Number),
      email: 'ada@example.org',
      display_name: 'Ada',
      operation_role: 'developer',
      panel_role: null,
    })
    // An access token has no name in it, so the known name stays.
    expect(await user(access_token)).toEqual(first)
  })

  it('are elevated by a verified address only, on every request, and never demoted', async () => {
    const root = await core.another({ yaml: yaml('', ' Root@Example.ORG ') })
    const unverified = { email: 'root@example.org' }
    for (const [subject, claims] of Object.entries({
      absent: unverified,
      no: { ...unverified, email_verified: false },
      text: { ...unverified, email_verified: 'true' },
    })) {
      provider.accounts.set(subject, claims)
      expect(await user((await provider.logIn(subject)).id_token, root)).toMatchObject({
        operation_role: 'developer',
        panel_role: null,
      })
    }
    provider.accounts.set('root', { email: 'ROOT@example.org', email_verified: true })
    const { id_token } = await provider.logIn('root')
    const elevated = { operation_role: 'devops', panel_role: 'admin' }
    expect(await user(id_token, root)).toMatchObject(elevated)
    await core.context.sql`UPDATE users SET operation_role = 'developer', panel_role = NULL WHERE subject = 'root'`
    expect(await user(id_token, root)).toMatchObject(elevated)
    expect(await user(id_token)).toMatchObject(elevated)
  })

  it('are the local developer, whatever they send, while authentication is off', async () => {
    const open = await core.another({ yaml: 'admin: { default_root_email: "ada@example.org" }' })
    const answers = await Promise.all(['x', (await provider.logIn('ada')).id_token].map((token) => user(token, open)))
    const anonymous: unknown = await (await open.request('/api/v1/users/me')).json()
    for (const answer of [...answers, anonymous]) expect(answer).toEqual(answers[0])
    expect(anonymous).toMatchObject({ email: 'dev@platform.local', operation_role: 'devops', panel_role: 'admin' })
    const [ada] = await core.context.sql`SELECT operation_role FROM users WHERE subject = 'ada'`
    expect(ada).toEqual({ operation_role: 'developer' })
  })
})

describe('tokens of the provider', () => {
  it.each(['Basic YTpi', 'Bearer', 'Token x', ''])('are missing in %j', async (authorization) => {
    const answer = await core.app.request('/api/v1/users/me?token=x&access_token=x', { headers: { authorization } })
    expect([answer.status, answer.headers.get('www-authenticate'), await answer.json()]).toEqual([
      401,
      'Bearer',
      { detail: 'Not authenticated' },
    ])
  })

  it('are one in a request', async () => {
    const { id_token } = await provider.logIn('ada')
    const headers = new Headers({ authorization: `Bearer ${id_token}` })
    headers.append('authorization', `Bearer ${id_token}`)
    expect((await core.app.request('/api/v1/users/me', { headers })).status).toBe(401)
    await refused(`${id_token} ${id_token}`, 'token is malformed')
  })

  it('are refused in the usual way when they are too long, by a real server too', async () => {
    const running = await listen(core.app)
    for (const length of [17_000, 50_000]) {
      const headers = { authorization: `Bearer ${'x'.repeat(length)}` }
      const answer = await fetch(`${running.url}/api/v1/users/me`, { headers })
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { detail: 'Token validation failed: token is too long' },
      ])
    }
    const endless = await fetch(`${running.url}/api/v1/users/me`, {
      headers: { authorization: `Bearer ${'x'.repeat(100_000)}` },
    })
    expect(endless.status).toBe(431)
    await running.close(1_000)
  })

  it('never reach the log, nor do keys', async () => {
    const { id_token, access_token } = await provider.logIn('mallory-of-the-log')
    const [header, payload] = id_token.split('.')
    for (const token of [id_token, access_token, `${header}.${payload}.AAAA`, `${id_token}x`]) await me(token)
    setClock(1_000)
    await refused(id_token, 'token has expired')
    const log = JSON.stringify(core.log)
    expect(log).toContain('token has expired')
    const { keys } = (await (await fetch(provider.url + KEYS)).json()) as { keys: Record<string, string>[] }
    const material = keys.flatMap(({ n, x, y }) => [n, x, y]).filter((part) => part !== undefined)
    for (const secret of [...id_token.split('.'), ...access_token.split('.'), ...material, 'mallory-of-the-log'])
      expect(log).not.toContain(secret)
  })
})

describe('rotation', () => {
  it('is noticed at once; the keys before it are good as long as they are published', async () => {
    const before = (await provider.logIn('ada')).id_token
    await user(before)
    const asked = keyRequests()
    setClock(11)
    await provider.rotate('old keys published')
    const after = await Promise.all(['ada', 'grace'].map((subject) => provider.logIn(subject)))
    const tokens = after.flatMap(({ id_token, access_token }) => [id_token, access_token])
    await Promise.all(Array.from({ length: 25 }, () => Promise.all([...tokens, before].map((token) => user(token)))))
    expect(keyRequests()).toBe(asked + 1)
  })
})
