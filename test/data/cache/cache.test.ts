import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { RedisConfig } from '../../../config/types.ts'
import { startCache } from '../../../dev/cache.ts'
import type { Fetch } from '../../../src/base/http.ts'
import { createLogger } from '../../../src/base/log.ts'
import { parseCacheAddress } from '../../../src/data/cache/address.ts'
import { type Cache, connectCache } from '../../../src/data/cache/cache.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startRespServer } from './resp-server.ts'

const SETTINGS = {
  redis_url_env: 'PLATFORM_REDIS_URL',
  max_connections: 20,
  socket_connect_timeout: 2,
  socket_timeout: 2,
  pool_timeout: 2,
}
const direct: Fetch = (input, init) => globalThis.fetch(input, init)

async function open(url: string, changes: Partial<RedisConfig> = {}, fetcher = direct) {
  const messages: string[] = []
  const log = createLogger({ write: (line) => messages.push(JSON.parse(line).message) })
  const cache = await connectCache({ ...SETTINGS, url, ...changes }, log, fetcher)
  onTestFinished(() => cache.close())
  return { cache, messages }
}
const redis = async (options: Parameters<typeof startRespServer>[0] = {}) => {
  const server = await startRespServer(options)
  onTestFinished(() => server.close())
  return server
}
const upstash = async (port?: number) => {
  const server = await startCache({ token: 'cache token/1', port })
  onTestFinished(() => server.close())
  return server
}

const VALUES = ['{"a":[1,"ü"]}', '"quoted"', '1.0', 'null', '', 'plain\r\n text 😀']

describe.each([
  ['redis://', async () => (await redis()).url],
  ['http://', async () => (await upstash()).platform_url],
])('%s', (_, start) => {
  it('keeps texts exactly as they are', async () => {
    const { cache } = await open(await start())
    await cache.ping()
    for (const value of VALUES) {
      await cache.set('key', value, 60)
      expect(await cache.get('key')).toBe(value)
    }
    await cache.set('other', 'x', 60)
    await cache.delete('key', 'other')
    await cache.delete()
    expect([await cache.get('key'), await cache.get('other')]).toEqual([null, null])
  })

  it('answers many at once', async () => {
    const { cache } = await open(await start(), { max_connections: 2 })
    await Promise.all(Array.from({ length: 50 }, (_, index) => cache.set(`key-${index}`, `value ${index}`, 60)))
    const values = await Promise.all(Array.from({ length: 50 }, (_, index) => cache.get(`key-${index}`)))
    expect(values).toEqual(Array.from({ length: 50 }, (_, index) => `value ${index}`))
  })
})

describe('addresses', () => {
  it.each([
    ['redis://h', { hosts: [{ host: 'h', port: 6379 }], tls: false, database: 0 }],
    ['rediss://u:p%40:x@h:1/3', { username: 'u', password: 'p@:x', tls: true, database: 3 }],
    ['redis://:50%off@h', { username: undefined, password: '50%off' }],
    ['redis://h?timeout=2', { hosts: [{ host: 'h', port: 6379 }] }],
    [
      'redis://[::1]:7000,[fd00::2],h',
      {
        hosts: [
          { host: '::1', port: 7000 },
          { host: 'fd00::2', port: 6379 },
          { host: 'h', port: 6379 },
        ],
      },
    ],
    [
      'redis-sentinel://u:p@a:1,b/the-cache/2',
      {
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26379 },
        ],
        password: 'p',
        database: 2,
        tls: false,
        sentinel: { primary: 'the-cache' },
      },
    ],
    [
      'rediss-sentinel://a/c?sentinel_username=w&sentinel_password=s%26',
      { tls: true, sentinel: { primary: 'c', username: 'w', password: 's&' } },
    ],
  ])('reads %s', (url, expected) => {
    expect(parseCacheAddress(url)).toMatchObject(expected)
  })

  it.each([
    'redis://',
    'redis://:secret@h:port',
    'redis://h:70000',
    'redis://h/x',
    'redis://h/1/2',
    'redis://a,,b',
    'redis://h x',
    'redis-sentinel://h',
  ])('refuses %s without showing it', (url) => {
    expect(() => parseCacheAddress(url)).toThrow(/^the cache URL must (be redis:|name the primary)/)
  })

  it.each(['memcached://h', 'nothing', ''])('refuses %j', async (url) => {
    await expect(open(url)).rejects.toThrow('the cache URL must begin with redis://')
  })

  it('sends the password of a redis:// address', async () => {
    const { cache } = await open((await redis({ password: 'p%40ss'.replace('%40', '-') })).url)
    await cache.ping()
  })

  it('takes the token from the query too, and shows a wrong one', async () => {
    const server = await upstash()
    const { cache } = await open(`${server.url}/?token=${encodeURIComponent('cache token/1')}`)
    await cache.ping()
    const wrong = await open(`${server.url}/?token=wrong`)
    await expect(wrong.cache.ping()).rejects.toThrow('401')
    expect(await wrong.cache.get('key')).toBeNull()
  })
})

describe('faults', () => {
  const unreachable: [string, string][] = [
    ['redis', 'redis://127.0.0.1:1/0'],
    ['http', 'http://:token@127.0.0.1:1'],
  ]
  it.each(unreachable)('%s: ping fails, everything else falls through', async (_, url) => {
    const { cache, messages } = await open(url)
    await expect(cache.ping()).rejects.toThrow()
    expect(await cache.get('key')).toBeNull()
    await cache.set('key', 'value', 60)
    await cache.delete('key')
    expect(messages).toEqual(['cache is off, going on without it'])
  })

  it('gives up on a silent server after the timeout, then leaves it alone', async () => {
    const server = await redis()
    const { cache } = await open(server.url, { socket_timeout: 0.5, socket_connect_timeout: 0.5 })
    await cache.ping()
    server.mode = 'hang'
    expect(await cache.get('key')).toBeNull()
    const commands = server.commands.length
    expect(await Promise.all(Array.from({ length: 100 }, (_, index) => cache.get(`key-${index}`)))).toEqual(
      Array(100).fill(null),
    )
    expect(server.commands.length).toBe(commands)
    await eventually(() => expect(server.connections()).toBe(0))
  })

  it('lets everybody who waits go when the first gives up, also those without a connection of their own', async () => {
    const server = await redis()
    const { cache, messages } = await open(server.url, { max_connections: 2, socket_timeout: 0.3, pool_timeout: 60 })
    await cache.ping()
    server.mode = 'hang'
    server.commands.splice(0)
    expect(await Promise.all(Array.from({ length: 100 }, (_, index) => cache.get(`key-${index}`)))).toEqual(
      Array(100).fill(null),
    )
    expect(server.commands).toEqual(['GET', 'GET'])
    expect(messages).toHaveLength(1)
  })

  it('keeps nobody waiting for a new connection', async () => {
    const first = await startRespServer()
    const { cache } = await open(first.url, { socket_connect_timeout: 60, socket_timeout: 60 })
    await cache.set('key', 'value', 60)
    await first.close()
    const silent = await redis({ port: Number(new URL(first.url).port) })
    silent.mode = 'hang'
    // The first call notices the loss, the others find an outage, and a ping hangs in the background.
    for (let index = 0; index < 10; index++) expect(await cache.get('key')).toBeNull()
  })

  it('goes on reading when the server is full, and says so once', async () => {
    const server = await redis()
    const { cache, messages } = await open(server.url)
    await cache.set('key', 'value', 60)
    server.mode = 'full'
    for (let index = 0; index < 5; index++) {
      await cache.set('key', `value ${index}`, 60)
      expect(await cache.get('key')).toBe('value')
    }
    expect(messages).toEqual(['cache refuses a command'])
    expect(server.connections()).toBe(1)
  })

  it('finds out that a server without HELLO is a cluster by what it answers', async () => {
    const server = await redis()
    server.mode = 'old-cluster'
    const { cache, messages } = await open(server.url)
    await cache.set('key', 'value', 60)
    expect(messages).toEqual(['cache is off, going on without it'])
    await cache.ping()
    await cache.set('key', 'value', 60)
    expect(await cache.get('key')).toBe('value')
    expect(messages).toEqual(['cache is off, going on without it', 'cache is on again'])
  })

  it.each([
    ['full', 400, { error: 'OOM command not allowed' }, 'cache refuses a command'],
    ['given too much at once', 413, 'too large', 'cache refuses a command'],
    [
      'asked with rights to read alone',
      400,
      { error: 'NOPERM this user has no permissions' },
      'cache is off, going on without it',
    ],
  ])('a REST service that is %s', async (_, status, body, message) => {
    const answer: Fetch = async (_, init) =>
      /"set"/i.test(String(init?.body)) ? Response.json(body, { status }) : Response.json({ result: null })
    const { cache, messages } = await open('http://:token@cache.example.com', {}, answer)
    await cache.set('key', 'value', 60)
    expect(await cache.get('key')).toBeNull()
    expect(messages).toEqual([message])
    await (cache.isOn() ? cache.ping() : expect(cache.ping()).rejects.toThrow('400'))
  })

  it('looks for another connection when the server has become a replica', async () => {
    const server = await redis()
    const { cache, messages } = await open(server.url)
    await cache.ping()
    server.mode = 'replica'
    await cache.set('key', 'value', 60)
    expect(messages).toEqual(['cache is off, going on without it'])
    await eventually(() => expect(server.connections()).toBe(0))
  })

  it('recovers by itself', async () => {
    const server = await redis()
    const { cache, messages } = await open(server.url, { socket_timeout: 0.5, socket_connect_timeout: 0.5 })
    await cache.set('key', 'value', 60)
    server.mode = 'hang'
    expect(await cache.get('key')).toBeNull()
    server.mode = 'answer'
    await vi.waitFor(async () => expect(await cache.get('key')).toBe('value'), { timeout: 10_000 })
    expect(messages).toEqual(['cache is off, going on without it', 'cache is on again'])
  })

  it('recovers from a server that was gone', async () => {
    const first = await startRespServer()
    const { cache } = await open(first.url)
    await cache.set('key', 'old', 60)
    await first.close()
    await eventually(async () => expect(await cache.get('key')).toBeNull())
    await redis({ port: Number(new URL(first.url).port) })
    await vi.waitFor(
      async () => {
        await cache.set('key', 'new', 60)
        expect(await cache.get('key')).toBe('new')
      },
      { timeout: 10_000 },
    )
  })

  it('falls through when the REST service hangs, answers errors or garbage', async () => {
    const answers: Fetch[] = [
      (_, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
      async () => new Response('down', { status: 500 }),
      async () => new Response('<html>'),
      async () => Response.json([{ error: 'ERR broken' }]),
    ]
    for (const answer of answers) {
      const { cache } = await open(
        'http://:token@cache.example.com',
        { socket_timeout: 0.02, socket_connect_timeout: 0.02 },
        answer,
      )
      expect(await cache.get('key')).toBeNull()
      await expect(cache.ping()).rejects.toThrow()
    }
  })

  it('waits for a free slot no longer than it may', async () => {
    const server = await redis()
    const { cache } = await open(server.url, { max_connections: 1, pool_timeout: 0.05, socket_timeout: 5 })
    await cache.ping()
    server.mode = 'hang'
    const stuck: Promise<string | null> = cache.get('first')
    expect(await cache.get('second')).toBeNull()
    await server.close()
    expect(await stuck).toBeNull()
  })
})

it('a cache that is closed stays closed', async () => {
  const server = await redis()
  const { cache }: { cache: Cache } = await open(server.url)
  await cache.ping()
  await cache.close()
  await eventually(() => expect(server.connections()).toBe(0))
  await expect(cache.ping()).rejects.toThrow('closed')
  expect(await cache.get('key')).toBeNull()
  expect(server.connections()).toBe(0)
})
