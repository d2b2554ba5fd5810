import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { OidcConfig } from '../../config/types.ts'
import { createTokenVerifier, type VerifyToken } from '../../src/access/verify-token.ts'
import { createLogger } from '../../src/base/log.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createIssuer, type Issuer } from '../helpers/issuer.ts'
import { oidcConfig } from '../helpers/oidc-config.ts'

const server = interceptRequests()
let issuer: Issuer
let now: Date
const verifier = (changes: Partial<OidcConfig> = {}): VerifyToken =>
  createTokenVerifier(oidcConfig(changes), { fetch: (input, init) => globalThis.fetch(input, init), now: () => now })
const seconds = (offset: number) => Math.floor(now.getTime() / 1000) + offset
const payload = () => ({ iss: issuer.url, sub: 'ada', aud: 'core', exp: seconds(60) })
const signed = (key: CryptoKey | Uint8Array, header: JWTHeaderParameters) =>
  new SignJWT(payload()).setProtectedHeader(header).sign(key)
const refusal = (reason: string) => ({
  status: 401,
  message: `Token validation failed: ${reason}`,
  challenge: 'Bearer error="invalid_token"',
})

beforeEach(async () => {
  now = new Date()
  issuer = await createIssuer()
  server.use(...issuer.handlers)
})

describe('accepted', () => {
  it.each([
    ['the client id', {}, { aud: 'core' }],
    ['the URI of the client id', {}, { aud: 'api://core' }],
    ['one of several audiences', {}, { aud: ['other', 'core'] }],
    ['the configured audience', { audience: 'https://api' }, { aud: 'https://api' }],
    ['an issuer with a trailing slash', {}, { iss: 'https://issuer.example.org/' }],
    ['no iat and no nbf', {}, { iat: undefined }],
    [
      'an issuer whose keys are at another address',
      { token_issuers: ['https://public.example.org'] },
      { iss: 'https://public.example.org/' },
    ],
    ['one of several configured audiences', { audience: ['https://api', 'api://default'] }, { aud: 'api://default' }],
  ])('%s', async (_, config, claims) => {
    const payload = await verifier(config)(await issuer.token('ada', claims))
    expect(payload.sub).toBe('ada')
  })

  it('times within the leeway', async () => {
    const verify = verifier()
    for (const claims of [{ exp: seconds(-55) }, { nbf: seconds(55) }, { iat: seconds(55) }])
      await expect(verify(await issuer.token('ada', claims))).resolves.toMatchObject({ sub: 'ada' })
  })

  it.each(['ES256', 'PS384', 'EdDSA', 'Ed25519', 'ML-DSA-44'])('%s', async (alg) => {
    const pair = await generateKeyPair(alg, { extractable: true })
    issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg })
    const token = await signed(pair.privateKey, { alg, kid: alg })
    await expect(verifier()(token)).resolves.toMatchObject({ sub: 'ada' })
  })

  it('a token without key id, signed by any of the keys', async () => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid: 'other', alg: 'RS256' })
    const token = await signed(pair.privateKey, { alg: 'RS256' })
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
    ['an empty sub', () => ({ sub: ' ' }), 'claim sub is not valid'],
    ['no iss', () => ({ iss: undefined }), 'claim iss is missing'],
    ['no aud', () => ({ aud: undefined }), 'claim aud is missing'],
    ['several foreign audiences', () => ({ aud: ['other', 'core2', 'api://core2'] }), 'audience is not accepted'],
    ['an empty list of audiences', () => ({ aud: [] }), 'audience is not accepted'],
    ['an audience in capitals', () => ({ aud: 'CORE' }), 'audience is not accepted'],
    [
      'an issuer below the configured one',
      () => ({ iss: 'https://issuer.example.org/realm' }),
      'issuer is not accepted',
    ],
  ])('%s', async (_, claims, reason) => {
    await expect(verifier()(await issuer.token('ada', claims()))).rejects.toMatchObject(refusal(reason))
  })

  it.each([
    ['sub', 7, 'claim sub is not valid'],
    ['sub', ['ada'], 'claim sub is not valid'],
    ['sub', { a: 1 }, 'claim sub is not valid'],
    ['sub', null, 'claim sub is not valid'],
    ['iss', ['https://issuer.example.org'], 'issuer is not accepted'],
    ['aud', { core: true }, 'audience is not accepted'],
    ['aud', 7, 'audience is not accepted'],
    ['exp', '9999999999', 'claim exp is not valid'],
    ['exp', null, 'claim exp is not valid'],
    ['nbf', '0', 'claim nbf is not valid'],
    ['iat', 'now', 'claim iat is not valid'],
    ['iat', {}, 'claim iat is not valid'],
  ])('a claim of another type: %s %j', async (claim, value, reason) => {
    await expect(verifier()(await issuer.token('ada', { [claim]: value }))).rejects.toMatchObject(refusal(reason))
  })

  it('times outside a leeway of zero', async () => {
    const verify = verifier({ clock_skew_seconds: 0 })
    for (const [claims, reason] of [
      [{ exp: seconds(-30) }, 'token has expired'],
      [{ nbf: seconds(30) }, 'token is not yet valid'],
      [{ iat: seconds(30) }, 'token was issued in the future'],
    ] as const)
      await expect(verify(await issuer.token('ada', claims))).rejects.toMatchObject(refusal(reason))
  })

  it('the client id when an audience is configured', async () => {
    const verify = verifier({ audience: 'https://api' })
    await expect(verify(await issuer.token('ada'))).rejects.toMatchObject(refusal('audience is not accepted'))
  })

  it.each(['logout+jwt', 'secevent+jwt', 'token-introspection+jwt', 'dpop+jwt', 7])('the type %s', async (typ) => {
    const token = await issuer.token('ada', {}, { typ })
    await expect(verifier()(token)).rejects.toMatchObject(refusal('token type is not accepted'))
  })

  it.each(['ES256K', 'Ed448', 'HS512', 'none', 'None', 'eddsa', 'RSA-OAEP'])('the algorithm %s', async (alg) => {
    const [, payload, signature] = (await issuer.token('ada')).split('.')
    const header = Buffer.from(JSON.stringify({ alg, kid: 'first' })).toString('base64url')
    await expect(verifier()([header, payload, signature].join('.'))).rejects.toMatchObject(
      refusal('algorithm is not allowed'),
    )
    expect(issuer.asked).toEqual([])
  })

  it('a logout token, which has events, whatever its type', async () => {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    await expect(verifier()(await issuer.token('ada', { events }, { typ: 'JWT' }))).rejects.toMatchObject(
      refusal('token type is not accepted'),
    )
  })

  it('the address of the keys as an issuer where others are named', async () => {
    const verify = verifier({ token_issuers: ['https://public.example.org'] })
    await expect(verify(await issuer.token('ada'))).rejects.toMatchObject(refusal('issuer is not accepted'))
  })

  it('a signature of another key', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const token = await signed(privateKey, { alg: 'RS256', kid: 'first' })
    await expect(verifier()(token)).rejects.toMatchObject(refusal('signature does not match'))
  })

  it('a changed payload', async () => {
    const [header, , signature] = (await issuer.token('ada')).split('.')
    const [, payload] = (await issuer.token('mallory')).split('.')
    await expect(verifier()([header, payload, signature].join('.'))).rejects.toMatchObject(
      refusal('signature does not match'),
    )
  })

  it('garbage, no algorithm and shared secrets, without a call to the issuer', async () => {
    const verify = verifier()
    const [key] = issuer.keys
    const public_key = await importJWK(key ?? {}, 'RS256', { extractable: true })
    if (public_key instanceof Uint8Array) throw new Error('not a public key')
    const secret = new TextEncoder().encode(await exportSPKI(public_key))
    const confused = await signed(secret, { alg: 'HS256', kid: 'first' })
    for (const token of [confused, new UnsecuredJWT(payload()).encode()])
      await expect(verify(token)).rejects.toMatchObject(refusal('algorithm is not allowed'))
    const good = await issuer.token('ada')
    const spoiled = [`${good}=`, ` ${good}`, `${good}.x`, `${good} ${good}`, `${good}, Bearer ${good}`, `${good}\n`]
    for (const token of ['garbage', 'a.b.c', '..', `${'x'.repeat(9_000)}.y.z`, 'bnVsbA.e30.x', 'é.é.é', ...spoiled])
      await expect(verify(token)).rejects.toMatchObject(refusal('token is malformed'))
    await expect(verify(`${good}${'x'.repeat(20_000)}`)).rejects.toMatchObject(refusal('token is too long'))
    expect(issuer.asked).toEqual([])
  })
})

it('says so where the runtime lacks the algorithm of a token', async () => {
  const pair = await generateKeyPair('EdDSA', { extractable: true })
  issuer.keys.push({ ...(await exportJWK(pair.publicKey)), kid: 'theirs', alg: 'EdDSA' })
  const token = await signed(pair.privateKey, { alg: 'EdDSA', kid: 'theirs' })
  const lacking = vi
    .spyOn(crypto.subtle, 'importKey')
    .mockRejectedValue(new DOMException('Unrecognized algorithm', 'NotSupportedError'))
  await expect(verifier()(token)).rejects.toMatchObject(refusal('token is not supported'))
  lacking.mockRestore()
})

describe('headers of a token', () => {
  const foreign = async () => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    return { key: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid: 'theirs', alg: 'RS256' } }
  }

  it.each(['first', 'theirs', undefined])('never bring the key: jwk, jku, x5u, key id %s', async (kid) => {
    const { key, jwk } = await foreign()
    const asked: string[] = []
    server.events.on('request:start', ({ request }) => void asked.push(new URL(request.url).host))
    for (const extra of [{ jwk }, { jku: 'https://evil.example.org/keys' }, { x5u: 'https://evil.example.org/cert' }]) {
      const token = await signed(key, { alg: 'RS256', kid, ...extra })
      await expect(verifier()(token)).rejects.toMatchObject({
        status: 401,
        message: expect.stringMatching(/signature does not match|signing key is unknown/),
      })
    }
    expect(asked.length).toBeGreaterThan(0)
    expect(new Set(asked)).toEqual(new Set(['issuer.example.org']))
    server.events.removeAllListeners()
  })

  it('with crit are refused', async () => {
    const { key } = await foreign()
    const token = await new SignJWT(payload())
      .setProtectedHeader({ alg: 'RS256', kid: 'first', crit: ['urn:x'], 'urn:x': true })
      .sign(key, { crit: { 'urn:x': true } })
    await expect(verifier()(token)).rejects.toMatchObject(refusal('token is not supported'))
  })

  it.each([
    ['its directory', 'https://login.example.org/tenant-a/v2.0', 'tenant-a', null],
    ['all directories', 'https://login.example.org/{tenantid}/v2.0', 'tenant-b', null],
    ['the issuer', 'https://issuer.example.org/', undefined, null],
    ['another directory', 'https://login.example.org/tenant-b/v2.0', 'tenant-a', 'signing key is of another issuer'],
    [
      'a directory that begins alike',
      'https://login.example.org/tenant-ab/v2.0',
      'tenant-a',
      'signing key is of another issuer',
    ],
    ['another issuer', 'https://login.example.org', undefined, 'signing key is of another issuer'],
  ])('name a key that the key set restricts to %s', async (_, owner, tid, reason) => {
    issuer.keys = issuer.keys.map((key) => ({ ...key, issuer: owner }))
    const verified = verifier()(await issuer.token('ada', { tid }))
    if (reason === null) await expect(verified).resolves.toMatchObject({ sub: 'ada' })
    else await expect(verified).rejects.toMatchObject(refusal(reason))
  })

  it('that name another algorithm than the key are refused', async () => {
    const pair = await generateKeyPair('PS256', { extractable: true })
    const token = await signed(pair.privateKey, { alg: 'PS256', kid: 'first' })
    await expect(verifier()(token)).rejects.toMatchObject(refusal('signing key is unknown'))
  })
})

it('a refusal keeps nothing of the token for the log', async () => {
  const token = await issuer.token('ada', { aud: 'other', email: 'ada@secret.example', exp: seconds(-100) })
  const error: unknown = await verifier()(token).catch((thrown) => thrown)
  const lines: string[] = []
  createLogger({ level: 'debug', write: (line) => lines.push(line) }).error('refused', {
    error,
    cause: (error as Error).cause,
  })
  expect(lines.join()).toContain('aud: accepted is core or api://core (oidc.client_id)')
  for (const secret of [...token.split('.'), 'secret.example', 'ada']) expect(lines.join()).not.toContain(secret)
})
