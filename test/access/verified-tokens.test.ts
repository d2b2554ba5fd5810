import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTokenVerifier, type VerifyToken } from '../../src/access/verify-token.ts'
import type { Fetch } from '../../src/base/http.ts'
import { createIssuer, type Issuer } from '../helpers/issuer.ts'
import { oidcConfig } from '../helpers/oidc-config.ts'

const SKEW_S = 60
let issuer: Issuer
let verify: VerifyToken
beforeEach(async () => {
  issuer = await createIssuer('https://verified.example.org')
  vi.useFakeTimers({ toFake: ['Date'] })
  const fetch: Fetch = async (input) => {
    const keys = String(input).endsWith('/keys')
    return Response.json(keys ? { keys: issuer.keys } : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })
  }
  verify = createTokenVerifier(oidcConfig({ issuer_url: issuer.url, clock_skew_seconds: SKEW_S }), {
    fetch,
    now: () => new Date(),
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})
const seconds = () => Math.floor(Date.now() / 1000)
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)
/** Verifies a token so often that it is remembered: not the first time, which reads the keys. */
async function used(token: string): Promise<void> {
  for (let time = 0; time < 3; time++) expect((await verify(token)).sub).toBe('ada')
}

describe('a token that was verified before', () => {
  it('is refused once its key is gone from the key set', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    await used(token)
    await issuer.rotate('second')
    pass(299_000)
    expect((await verify(token)).sub).toBe('ada')
    pass(2_000)
    await expect(verify(token)).rejects.toThrow('signing key is unknown')
  })

  it('is refused as soon as another token made the key set new', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    await used(token)
    await issuer.rotate('second')
    pass(20_000)
    expect((await verify(await issuer.token('bob'))).sub).toBe('bob')
    await expect(verify(token)).rejects.toThrow('signing key is unknown')
  })

  it('expires', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 100 })
    await used(token)
    pass((100 + SKEW_S - 2) * 1000)
    expect((await verify(token)).sub).toBe('ada')
    pass(4_000)
    await expect(verify(token)).rejects.toThrow('token has expired')
  })

  it('is not yet valid again when the clock is set back', async () => {
    pass(100_000)
    const token = await issuer.token('ada', { nbf: seconds(), iat: seconds() - 200, exp: seconds() + 3_600 })
    await used(token)
    pass(-90_000)
    await expect(verify(token)).rejects.toThrow('token is not yet valid')
  })

  it('lends nothing to another token with its header and claims', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    await used(token)
    await expect(verify(`${token.slice(0, -4)}AAAA`)).rejects.toThrow('signature does not match')
  })
})

describe('the check of a signature', () => {
  /** Counts the signature checks while a token is used `times` times. */
  async function checksOf(token: string, times: number): Promise<number> {
    const check = vi.spyOn(crypto.subtle, 'verify')
    for (let time = 0; time < times; time++) await verify(token)
    const { length } = check.mock.calls
    check.mockRestore()
    return length
  }
  /** Makes a token of about this many characters, and no more. */
  async function tokenOf(characters: number): Promise<string> {
    const signed = (padding: number) => issuer.token('ada', { padding: 'x'.repeat(padding) })
    let padding = Math.floor(((characters - (await signed(0)).length) * 3) / 4)
    for (;;) {
      const token = await signed(padding--)
      if (token.length <= characters) return token
    }
  }

  it('is spared from the third use on: during the first the keys were still being read', async () => {
    expect(await checksOf(await issuer.token('ada'), 6)).toBe(2)
    expect(await checksOf(await issuer.token('bob'), 6)).toBe(1)
  })

  it('is not spared for tokens of more than 4,096 characters, so that little is kept in memory', async () => {
    await verify(await issuer.token('bob'))
    expect(await checksOf(await tokenOf(4_096), 3)).toBe(1)
    expect(await checksOf(await tokenOf(4_110), 3)).toBe(3)
  })

  it('is not spared once the keys have to be read again, even where they lapsed during the check before', async () => {
    const token = await issuer.token('ada', { exp: seconds() + 3_600 })
    const check = crypto.subtle.verify.bind(crypto.subtle)
    vi.spyOn(crypto.subtle, 'verify').mockImplementationOnce((...given) => {
      pass(301_000)
      return check(...given)
    })
    expect((await verify(token)).sub).toBe('ada')
    await issuer.rotate('second')
    await expect(verify(token)).rejects.toThrow('signing key is unknown')
  })
})
