import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCache } from '../../dev/cache.ts'

let cache: Awaited<ReturnType<typeof startCache>>
let redis: Redis
let now = 1_000_000
const OPTIONS = {
  retry: false,
  automaticDeserialization: false,
  enableTelemetry: false,
  responseEncoding: false,
} as const

beforeAll(async () => {
  cache = await startCache({ token: 'cache token', now: () => now })
  redis = new Redis({ url: cache.url, token: 'cache token', enableAutoPipelining: false, ...OPTIONS })
})
afterAll(() => cache.close())

test('values come back as they were written, until they expire', async () => {
  const text = JSON.stringify({ name: 'Größe', list: [1, null], emoji: '\u{1F30D}' })
  expect(await redis.set('key', text)).toBe('OK')
  expect(await redis.set('short', 'x', { ex: 10 })).toBe('OK')
  now += 9_999
  expect([await redis.get('key'), await redis.get('short'), await redis.get('missing')]).toEqual([text, 'x', null])
  now += 1
  expect(await redis.get('short')).toBeNull()
  expect(await redis.del('key', 'short')).toBe(1)
  expect(await redis.get('key')).toBeNull()
  expect(await redis.ping()).toBe('PONG')
})

test('wrong token, unknown command, garbage', async () => {
  const stranger = new Redis({ url: cache.url, token: 'guess', ...OPTIONS })
  await expect(stranger.get('ok')).rejects.toThrow(/Unauthorized/)
  const post = (body: string) =>
    fetch(cache.url, { method: 'POST', headers: { authorization: 'Bearer cache token' }, body })
  expect(await (await post('["FROB"]')).json()).toEqual({ error: "ERR unknown command 'FROB'" })
  expect((await post('not json')).status).toBe(400)
  expect((await post('{}')).status).toBe(400)
  expect((await post('["SET", "key", "x", "NX"]')).status).toBe(400)
  expect((await fetch(cache.url, { headers: { authorization: 'Bearer cache token' } })).status).toBe(405)
})

test('the address for the platform carries the token', () => {
  const url = new URL(cache.platform_url)
  expect([url.username, decodeURIComponent(url.password), url.host]).toEqual([
    '',
    'cache token',
    new URL(cache.url).host,
  ])
})
