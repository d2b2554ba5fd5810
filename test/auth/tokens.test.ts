import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { OidcConfig } from '../../config/types.ts'
import { createTokenVerifier, type VerifyToken } from '../../src/auth/verify-token.ts'
import { createIssuer, type Issuer } from '../helpers/issuer.ts'

const oidc: OidcConfig = {
  issuer_url: 'https://issuer.example.org',
  client_id: 'core',
  audience: '',
  scope: 'openid',
  clock_skew_seconds: 60,
}
const server = setupServer()
let issuer: Issuer
let now: Date
const verifier = (changes: Partial<OidcConfig> = {}): VerifyToken =>
  createTokenVerifier({ ...oidc, ...changes }, { fetch: (input, init) => globalThis.fetch(input, init), now: () => now })
const seconds = (offset: number) => Math.floor(now.getTime() / 1000) + offset
const refusal = (reason: string) => ({
  status: 401,
  message: `Token validation failed: ${reason}`,
  challenge: 'Bearer error="invalid_token"',
})

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterAll(() => server.close())
beforeEach(async () => {
  now = new Date()
  issuer = await createIssuer()
  server.resetHandlers(...issuer.handlers)
})

describe('accepted', () => {
  it.each([
    ['the client id', {}, { aud: 'core' }],
    ['the URI of the client id', {}, { aud: 'api://core' }],
    ['one of several audiences', {}, { aud: ['other', 'core'] }],
    ['the configured audience', { audience: 'https://api' }, { aud: 'https://api' }],
    ['an issuer with a trailing slash', {}, { iss: 'https://issuer.example.org/' }],
    ['no iat and no nbf', {}, { iat: undefined }],
  ])('%s', async (_, config, claims) => {
    const payload = await verifier(config)(await issuer.token('ada', claims))
    expect(payload.sub).toBe('ada')
  })

  it('times within the leeway', async () => {
    const verify = verifier()
    for (const claims of [{ exp: seconds(-55) }, { nbf: seconds(55) }, { iat: seconds(55) }])
      await expect(verify(await issuer.token('ada', claims))).resolves.toMatchObject({ sub: 'ada' })
  })

  it.each(['ES256', 'PS384'])('%s', async (alg) => {
    const pair = await generateKeyPair(alg, { extractable: true })
    issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg })
    const token = await new SignJWT({ iss: issuer.url, sub: 'ada', aud: 'core', exp: seconds(60) })
      .setProtectedHeader({ alg, kid: alg })
      .sign(pair.privateKey)
    await expect(verifier()(token)).resolves.toMatchObject({ sub: 'ada' })
  })

  it('a token without key id, signed by any of the keys', async () => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid: 'other', alg: 'RS256' })
    const token = await new SignJWT({ iss: issuer.url, sub: 'ada', aud: 'core', exp: seconds(60) })
      .setProtectedHeader({ alg: 'RS256' })
      .sign(pair.privateKey)
    await expect(verifier()(token)).resolves.toMatchObject({ sub: 'ada' })
  })
})

describe('refused', () => {
  it.each([
    ['expired beyond the leeway', () => ({ exp: seconds(-61) }), 'token has expired'],
    ['not yet valid', () => ({ nbf: seconds(120) }), 'token is not yet valid'],
    ['issued in the future', () => ({ iat: seconds(120) }), 'token was issued in the future'],
    ['another audience', () => ({ aud: 'other' }), 'audience is not accepted'],
    ['another issuer', () => ({ iss: 'https://evil.example.org' }), 'issuer is not accepted'],
    ['an issuer with two slashes', () => ({ iss: 'https://issuer.example.org//' }), 'issuer is not accepted'],
    ['no exp', () => ({ exp: undefined }), 'claim exp is missing'],
    ['no sub', () => ({ sub: undefined }), 'claim sub is missing'],
    ['an empty sub', () => ({ sub: '' }), 'claim sub is missing'],
    ['no iss', () => ({ iss: undefined }), 'claim iss is missing'],
    ['no aud', () => ({ aud: undefined }), 'claim aud is missing'],
  ])('%s', async (_, claims, reason) => {
    await expect(verifier()(await issuer.token('ada', claims()))).rejects.toMatchObject(refusal(reason))
  })

  it('the client id when an audience is configured', async () => {
    const verify = verifier({ audience: 'https://api' })
    await expect(verify(await issuer.token('ada'))).rejects.toMatchObject(refusal('audience is not accepted'))
  })

  it('a signature of another key', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const token = await new SignJWT({ iss: issuer.url, sub: 'ada', aud: 'core', exp: seconds(60) })
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .sign(privateKey)
    await expect(verifier()(token)).rejects.toMatchObject(refusal('signature does not match'))
  })

  it('a changed payload', async () => {
    const [header, , signature] = (await issuer.token('ada')).split('.')
    const [, payload] = (await issuer.token('mallory')).split('.')
    await expect(verifier()([header, payload, signature].join('.'))).rejects.toMatchObject(refusal('signature does not match'))
  })

  it('garbage, no algorithm and shared secrets, without a call to the issuer', async () => {
    const verify = verifier()
    const [key] = issuer.keys
    const public_key = await importJWK(key ?? {}, 'RS256', { extractable: true })
    if (public_key instanceof Uint8Array) throw new Error('not a public key')
    const secret = new TextEncoder().encode(await exportSPKI(public_key))
    const payload = { iss: issuer.url, sub: 'ada', aud: 'core', exp: seconds(60) }
    const confused = await new SignJWT(payload).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret)
    for (const token of [confused, new UnsecuredJWT(payload).encode()])
      await expect(verify(token)).rejects.toMatchObject(refusal('algorithm is not allowed'))
    for (const token of ['garbage', 'a.b.c', '..', `${'x'.repeat(9_000)}.y.z`])
      await expect(verify(token)).rejects.toMatchObject(refusal('token is malformed'))
    expect(issuer.asked).toEqual([])
  })
})

describe('the issuer', () => {
  it('is asked once for many first calls, and not again', async () => {
    const verify = verifier()
    const token = await issuer.token('ada')
    await Promise.all(Array.from({ length: 10 }, () => verify(token)))
    await verify(token)
    expect(issuer.asked).toEqual(['discovery', 'keys'])
  })

  it('may be away: 401, and back without a restart', async () => {
    const verify = verifier()
    const token = await issuer.token('ada')
    issuer.down = true
    await expect(verify(token)).rejects.toMatchObject(refusal('the keys of the identity provider could not be read'))
    issuer.down = false
    await expect(verify(token)).resolves.toMatchObject({ sub: 'ada' })
  })

  it('may rotate its keys: an unknown one is looked up, at most every ten seconds', async () => {
    const verify = verifier()
    await verify(await issuer.token('ada'))
    await issuer.rotate('second')
    const token = await issuer.token('ada')
    await expect(verify(token)).rejects.toMatchObject(refusal('signing key is unknown'))
    expect(issuer.asked).toEqual(['discovery', 'keys'])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 })
    await expect(verify(token)).resolves.toMatchObject({ sub: 'ada' })
    vi.useRealTimers()
    expect(issuer.asked).toEqual(['discovery', 'keys', 'keys'])
  })
})
