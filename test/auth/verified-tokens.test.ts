import { beforeEach, describe, expect, it } from 'vitest'
import { createVerifiedTokens } from '../../src/access/verified-tokens.ts'
import { createTokenVerifier, type VerifyToken } from '../../src/access/verify-token.ts'
import type { Fetch } from '../../src/base/http.ts'
import { createIssuer, type Issuer } from '../helpers/issuer.ts'

const SKEW_S = 60
let issuer: Issuer
let now: number
let verify: VerifyToken
beforeEach(async () => {
  issuer = await createIssuer('https://verified.example.org')
  now = Date.now()
  const fetch: Fetch = async (input) => {
    const keys = String(input).endsWith('/keys')
    return Response.json(keys ? { keys: issuer.keys } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })
  }
  const oidc = { issuer_url: issuer.url, client_id: 'core', audience: '', scope: '', clock_skew_seconds: SKEW_S }
  verify = createTokenVerifier(oidc, { fetch, now: () => new Date(now) })
})
const seconds = () => Math.floor(now / 1000)
/** The second check is the first that may be remembered: the keys were read during the one before. */
async function used(token: string): Promise<void> {
  for (let time = 0; time < 3; time++) expect((await verify(token)).sub).toBe('ada')
}

describe('a token that was verified before', () => {
  it('is refused once its key is gone from the key set', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    await used(token)
    await issuer.rotate('second')
    now += 299_000
    expect((await verify(token)).sub).toBe('ada')
    now += 2_000
    await expect(verify(token)).rejects.toThrow('signing key is unknown')
  })

  it('is refused as soon as another token made the key set new', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    await used(token)
    await issuer.rotate('second')
    now += 20_000
    expect((await verify(await issuer.token('bob'))).sub).toBe('bob')
    await expect(verify(token)).rejects.toThrow('signing key is unknown')
  })

  it('expires', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 100 })
    await used(token)
    now += (100 + SKEW_S - 2) * 1000
    expect((await verify(token)).sub).toBe('ada')
    now += 4_000
    await expect(verify(token)).rejects.toThrow('token has expired')
  })

  it('is not yet valid again when the clock is set back', async () => {
    now += 100_000
    const token = await issuer.token('ada', { nbf: seconds(), iat: seconds() - 200, exp: seconds() + 3_600 })
    await used(token)
    now -= 90_000
    await expect(verify(token)).rejects.toThrow('token is not yet valid')
  })

  it('lends nothing to another token with its header and claims', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    await used(token)
    await expect(verify(`${token.slice(0, -4)}AAAA`)).rejects.toThrow('signature does not match')
  })
})

describe('what is remembered', () => {
  const keys = {}
  const claims = { sub: 'ada', exp: 1_000 }
  const same = { before: keys, after: keys }
  const remembered = () => createVerifiedTokens(() => 0, SKEW_S)

  it('is what one and the same key set verified from the beginning to the end of the check', () => {
    for (const [before, after] of [
      [keys, {}],
      [{}, keys],
      [null, keys],
      [keys, null],
      [null, null],
    ] as const) {
      for (const current of [keys, before, after, null]) {
        const tokens = remembered()
        tokens.add('token', claims, { before, after })
        expect(tokens.find('token', current)).toBeNull()
      }
    }
    const tokens = remembered()
    tokens.add('token', claims, same)
    expect(tokens.find('token', keys)).toEqual(claims)
    expect(tokens.find('token', {})).toBeNull()
  })

  it('is bounded: no token of more than 4,096 characters, and the oldest goes when there are 2,000', () => {
    const tokens = remembered()
    tokens.add('x'.repeat(4_097), claims, same)
    expect(tokens.find('x'.repeat(4_097), keys)).toBeNull()
    tokens.add('x'.repeat(4_096), claims, same)
    for (let number = 1; number < 2_000; number++) tokens.add(`${number}`, claims, same)
    expect(tokens.find('x'.repeat(4_096), keys)).toEqual(claims)
    tokens.add('last', claims, same)
    expect(tokens.find('x'.repeat(4_096), keys)).toBeNull()
    expect(['1', '1999', 'last'].map((token) => tokens.find(token, keys))).toEqual([claims, claims, claims])
  })
})
