import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCache } from '../../dev/cache.ts'

let cache: Awaited<ReturnType<typeof startCache>>
let redis: Redis
let now = 1_000_000

beforeAll(async () => {
  cache = await startCache({ token: 'cache token', now: () => now })
  redis = new Redis({
    url: cache.url,
    token: 'cache token',
    retry: false,
    automaticDeserialization: false,
    enableTelemetry: false,
  })
})
afterAll(() => cache.close())

test('values come back as they were written', async () => {
  const text = JSON.stringify({ name: 'Größe', list: [1, null], emoji: '\u{1F30D}' })
  expect(await redis.set('key', text)).toBe('OK')
  expect(await redis.get('key')).toBe(text)
  await redis.set('ok', 'OK')
  expect(await redis.get('ok')).toBe('OK')
  expect(await redis.get('missing')).toBeNull()
  expect(await redis.mget('key', 'missing')).toEqual([text, null])
  expect(await redis.del('key', 'missing')).toBe(1)
  expect(await redis.exists('key')).toBe(0)
  expect(await redis.ping()).toBe('PONG')
})

test('values expire', async () => {
  await redis.set('short', 'x', { ex: 10 })
  expect(await redis.ttl('short')).toBe(10)
  now += 9_999
  expect(await redis.get('short')).toBe('x')
  now += 1
  expect(await redis.get('short')).toBeNull()
  expect(await redis.ttl('short')).toBe(-2)
  await redis.set('kept', 'x')
  expect(await redis.ttl('kept')).toBe(-1)
  expect(await redis.expire('kept', 5)).toBe(1)
  now += 5_000
  expect(await redis.exists('kept')).toBe(0)
})

test('conditions and counters', async () => {
  expect(await redis.set('once', '1', { nx: true, px: 500 })).toBe('OK')
  expect(await redis.set('once', '2', { nx: true })).toBeNull()
  expect(await redis.set('never', '2', { xx: true })).toBeNull()
  expect(await redis.get('once')).toBe('1')
  expect(await redis.incr('count')).toBe(1)
  expect(await redis.incrby('count', 4)).toBe(5)
  await redis.set('text', 'abc')
  await expect(redis.incr('text')).rejects.toThrow(/not an integer/)
})

test('several commands in one request', async () => {
  const results = await redis.pipeline().set('p', '1').get('p').incr('p').exec()
  expect(results).toEqual(['OK', '1', 2])
  expect(await redis.multi().del('p').exists('p').exec()).toEqual([1, 0])
})

test('wrong token, unknown command, garbage', async () => {
  const stranger = new Redis({ url: cache.url, token: 'guess', retry: false, enableTelemetry: false })
  await expect(stranger.get('ok')).rejects.toThrow(/Unauthorized/)
  const post = (body: string) =>
    fetch(cache.url, { method: 'POST', headers: { authorization: 'Bearer cache token' }, body })
  expect(await (await post('["FROB"]')).json()).toEqual({ error: "ERR unknown command 'FROB'" })
  expect((await post('not json')).status).toBe(400)
  expect((await post('["GET"]')).status).toBe(400)
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
