import { exportJWK, generateKeyPair } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createIssuerKeys } from '../../src/access/issuer.ts'

const ISSUER = 'https://issuer.example.org'
let reads: number
let published: string[]
let fault: Error | null
/** While set, readings wait for it. */
let gate: Promise<void> | null
const public_key = await generateKeyPair('ES256', { extractable: true }).then((pair) => exportJWK(pair.publicKey))
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

const keySet = () => {
  const keys = createIssuerKeys(ISSUER, async (input) => {
    if (String(input).includes('well-known')) return Response.json({ jwks_uri: `${ISSUER}/keys` })
    reads++
    const answer = published.map((kid) => ({ ...public_key, kid }))
    await gate
    if (fault) throw fault
    return Response.json({ keys: answer })
  })
  return (kid: string) => keys({ alg: 'ES256', kid }, { payload: '', signature: '' })
}
const UNKNOWN = { code: 'ERR_JWKS_NO_MATCHING_KEY' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
  reads = 0
  published = ['a']
  fault = null
  gate = null
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a key set', () => {
  it('is read once for many first callers and kept for 300 s', async () => {
    const find = keySet()
    await Promise.all(Array.from({ length: 100 }, () => find('a')))
    pass(299_999)
    await find('a')
    expect(reads).toBe(1)
    pass(1)
    await Promise.all(Array.from({ length: 100 }, () => find('a')))
    expect(reads).toBe(2)
  })

  it('loses a key that was withdrawn, at the latest after 300 s', async () => {
    const find = keySet()
    await find('a')
    published = ['b']
    await find('a')
    pass(300_000)
    await expect(find('a')).rejects.toMatchObject(UNKNOWN)
    expect(reads).toBe(2)
  })

  it('finds a new key at once', async () => {
    const find = keySet()
    await find('a')
    published = ['a', 'b']
    await Promise.all(Array.from({ length: 100 }, () => find('b')))
    expect(reads).toBe(2)
    await find('a')
    expect(reads).toBe(2)
  })

  it('is not read twice for a first caller with an unknown key', async () => {
    const find = keySet()
    await Promise.all(Array.from({ length: 100 }, () => expect(find('z')).rejects.toMatchObject(UNKNOWN)))
    expect(reads).toBe(1)
  })

  it('is read at most once in 10 s for unknown keys, however many ask', async () => {
    const find = keySet()
    await find('a')
    pass(10_000)
    const storm = () =>
      Promise.all(Array.from({ length: 100 }, (_, index) => expect(find(`z${index}`)).rejects.toMatchObject(UNKNOWN)))
    await storm()
    await storm()
    expect(reads).toBe(2)
    pass(9_999)
    await storm()
    expect(reads).toBe(2)
    pass(1)
    await storm()
    expect(reads).toBe(3)
  })

  it('still serves the keys it has while looking for another fails', async () => {
    const find = keySet()
    await find('a')
    pass(10_000)
    fault = new Error('away')
    await expect(find('z')).rejects.toThrow()
    for (let index = 0; index < 10; index++) await expect(find('z')).rejects.toMatchObject(UNKNOWN)
    await find('a')
    expect(reads).toBe(2)
  })

  it('does not keep callers with known keys waiting for a slow refresh', async () => {
    const find = keySet()
    await find('a')
    pass(10_000)
    const opened = Promise.withResolvers<void>()
    gate = opened.promise
    const unknown = find('z')
    await find('a')
    opened.resolve()
    await expect(unknown).rejects.toMatchObject(UNKNOWN)
  })

  it('is asked for again after a failure, once for those who wait together', async () => {
    const find = keySet()
    fault = new Error('away')
    await Promise.all(Array.from({ length: 100 }, () => expect(find('a')).rejects.toThrow()))
    expect(reads).toBe(1)
    fault = null
    await find('a')
    expect(reads).toBe(2)
  })

  it('is not kept longer when the clock is set back', async () => {
    const find = keySet()
    await find('a')
    pass(-3_600_000)
    await find('a')
    expect(reads).toBe(2)
  })
})
