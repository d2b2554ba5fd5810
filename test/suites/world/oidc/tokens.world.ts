import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { codeFlow } from '../../../access/provider.ts'
import { createTestCore, type TestCore } from '../../../helpers/core.ts'
import { type ForeignIssuer, startForeignIssuer } from '../../console/sign-in/foreign-provider.ts'
import { AUDIENCE, CLIENT_ID } from '../../console/sign-in/issuer.ts'

const ORIGIN = 'http://127.0.0.1:8000'
let issuer: ForeignIssuer
let core: TestCore
/** Seconds that the core's clock is ahead. */
let ahead = 0

beforeAll(async () => {
  const readClock = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => readClock() + ahead * 1000)
  issuer = await startForeignIssuer(process.env.SIGN_IN_ISSUER ?? '', () => ORIGIN)
  core = await createTestCore({
    yaml: `oidc: { issuer_url: "${issuer.url}", client_id: ${CLIENT_ID}, audience: "${AUDIENCE}" }`,
    context: { now: () => new Date(Date.now()) },
  })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await core?.close()
  await issuer?.close()
})

const logIn = async (name: string) => {
  issuer.person.name = name
  const redirect_uri = `${ORIGIN}/console/signed-in`
  return codeFlow(issuer.url, { subject: name, client_id: CLIENT_ID, redirect_uri, scope: 'openid profile email use' })
}
const me = (token: string) => core.app.request('/api/v1/users/me', { headers: { authorization: `Bearer ${token}` } })
const accepted = async (token: string) => {
  const answer = await me(token)
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([200, null])
  return (await answer.json()) as Record<string, unknown>
}
const refused = async (token: string, reason: string) => {
  const answer = await me(token)
  expect([answer.status, await answer.json()]).toEqual([401, { detail: `Token validation failed: ${reason}` }])
}

describe('tokens of an OpenID provider in Go', () => {
  it('say who it is', async () => {
    const { access_token } = await logIn('ada')
    expect(await accepted(access_token)).toMatchObject({ email: 'ada@example.org', display_name: 'ada' })
    expect(decodeJwt(access_token).aud).toContain(AUDIENCE)
  })

  it('are refused for another audience', async () => {
    issuer.audience = 'api://another'
    const { access_token, id_token } = await logIn('ada')
    issuer.audience = AUDIENCE
    for (const token of [access_token, id_token]) await refused(token, 'audience is not accepted')
  })

  it('are refused after their end', async () => {
    const { access_token } = await logIn('ada')
    ahead = 300 + 70
    await refused(access_token, 'token has expired')
    ahead = 0
  })

  it('are renewed by the refresh token, once', async () => {
    issuer.refresh = true
    const { refresh_token = '', access_token } = await logIn('ada')
    issuer.refresh = false
    const renew = () =>
      fetch(`${issuer.url}/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'refresh_token', client_id: CLIENT_ID, refresh_token }),
      })
    const answer = await renew()
    expect(answer.status).toBe(200)
    const renewed = (await answer.json()) as { access_token: string }
    expect(renewed.access_token).not.toBe(access_token)
    expect(await accepted(renewed.access_token)).toMatchObject({ email: 'ada@example.org' })
    expect((await renew()).status).toBe(400)
  })

  it('hold through a rotation of keys, as long as the old key is published', async () => {
    const { access_token: before } = await logIn('ada')
    await accepted(before)
    ahead = 11
    issuer.rotations = 1
    const { access_token: after } = await logIn('ada')
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid)
    await accepted(after)
    await accepted(before)
    ahead = 22
    Object.assign(issuer, { rotations: 2, retired: 2 })
    await accepted((await logIn('ada')).access_token)
    await refused(before, 'signing key is unknown')
    ahead = 0
  })

  it('are still good while the provider is away, and new keys are read when it is back', async () => {
    const { access_token } = await logIn('grace')
    await accepted(access_token)
    issuer.rotations = 3
    const { access_token: next } = await logIn('grace')
    issuer.down = true
    ahead = 40
    await accepted(access_token)
    expect((await me(next)).status).toBe(401)
    issuer.down = false
    ahead = 60
    await accepted(next)
    ahead = 0
  })
})
