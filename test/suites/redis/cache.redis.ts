import { once } from 'node:events'
import { connect as connectSocket, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { RedisConfig } from '../../../config/types.ts'
import type { Cache } from '../../../src/data/cache/cache.ts'
import { type RedisServer, startRedis } from './server.ts'
import { BACK, GONE, openedCaches } from './support.ts'

let server: RedisServer
let messages: string[]
let errors: string[]

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server?.kill())
afterEach(() => server.resume())

const openCache = openedCaches()
async function open(url = server.url, changes: Partial<RedisConfig> = {}): Promise<Cache> {
  const opened = await openCache(url, changes)
  messages = opened.messages
  errors = opened.errors
  return opened.cache
}
const connections = async () =>
  Number(/connected_clients:(\d+)/.exec(String(await server.ask(['INFO', 'clients'])))?.[1])
const used = async (cache: Cache) => {
  await cache.get('nothing')
}
/** Waits until the users of a cache notice its return. */
const comesBack = (cache: Cache) =>
  vi.waitFor(() => used(cache).then(() => expect(messages.at(-1)).toBe(BACK)), { timeout: 20_000, interval: 100 })

describe.each(['redis', 'rediss'])('%s://', (scheme) => {
  const address = () => (scheme === 'redis' ? server.url : server.tls_url)

  it('keeps, answers and forgets', async () => {
    const cache = await open(address())
    await cache.ping()
    for (const value of ['{"a":[1,"ü"]}', '', 'null', 'plain\r\n 😀', 'x'.repeat(1_000_000)]) {
      await cache.set('key', value, 60)
      expect(await cache.get('key')).toBe(value)
    }
    const ttl = Number(await server.ask(['TTL', 'key']))
    expect(ttl).toBeGreaterThan(0)
    expect(ttl).toBeLessThanOrEqual(60)
    await cache.set('other', 'x', 60)
    await cache.delete('key', 'other', 'absent')
    expect([await cache.get('key'), await cache.get('other')]).toEqual([null, null])
    expect(messages).toEqual([])
  })

  it('forgets by itself when the time is up', async () => {
    const cache = await open(address())
    await cache.set('short', 'x', 1)
    expect(await cache.get('short')).toBe('x')
    await vi.waitFor(async () => expect(await cache.get('short')).toBeNull(), { timeout: 10_000 })
  })

  it('uses the database of the address', async () => {
    const cache = await open(address().replace(/\/0$/, '/3'))
    await cache.set('in-three', 'x', 60)
    expect([await server.ask(['GET', 'in-three'], 3), await server.ask(['GET', 'in-three'], 0)]).toEqual(['x', null])
  })
})

describe('an address that does not fit', () => {
  it.each([
    ['a wrong password', () => server.url.replace(/:[^:@]*@/, ':wrong@'), /WRONGPASS/],
    ['no password', () => server.url.replace(/\/\/.*@/, '//'), /NOAUTH/],
    ['a closed port', () => 'redis://127.0.0.1:1/0', /ECONNREFUSED/],
    ['TLS where there is none', () => server.url.replace('redis:', 'rediss:'), /.+/],
    ['no TLS where it is needed', () => server.tls_url.replace('rediss:', 'redis:'), /.+/],
    ['a database that does not exist', () => server.url.replace(/\/0$/, '/99'), /out of range/],
  ])('%s: ping says so, nothing else does', async (_, url, text) => {
    const cache = await open(url())
    await expect(cache.ping()).rejects.toThrow(text)
    expect(await cache.get('key')).toBeNull()
    await cache.set('key', 'x', 60)
    await cache.delete('key')
    expect(messages).toEqual([GONE])
  })
})

describe('limits', () => {
  it('one connection carries many commands', async () => {
    const before = await connections()
    const cache = await open()
    await Promise.all(Array.from({ length: 500 }, (_, index) => cache.set(`many-${index}`, `${index}`, 60)))
    const values = await Promise.all(Array.from({ length: 500 }, (_, index) => cache.get(`many-${index}`)))
    expect(values).toEqual(Array.from({ length: 500 }, (_, index) => `${index}`))
    expect(await connections()).toBe(before + 1)
  })

  it('pool_timeout ends the wait for one of max_connections', async () => {
    const cache = await open(server.url, { max_connections: 2, pool_timeout: 0.1, socket_timeout: 600 })
    await cache.ping()
    server.stall()
    expect(await Promise.all(['a', 'b', 'c'].map((key) => cache.get(key)))).toEqual([null, null, null])
    expect(errors).toEqual(['no free cache connection within 0.1 s'])
  })

  it('socket_timeout ends the wait for an answer', async () => {
    const cache = await open(server.url, { pool_timeout: 600, socket_connect_timeout: 600 })
    await cache.ping()
    server.stall()
    expect(await cache.get('a')).toBeNull()
    expect(errors).toEqual(['a cache command took longer than 0.5 s'])
  })

  it('socket_timeout ends the wait for a greeting', async () => {
    server.stall()
    const cache = await open(server.url, { socket_connect_timeout: 600 })
    await expect(cache.ping()).rejects.toThrow('the greeting of the cache took longer than 0.5 s')
  })

  it('socket_connect_timeout ends the wait for a connection', async () => {
    const silent = await startRedis(['--tcp-backlog', '1'])
    silent.stall()
    // The kernel accepts two connections for the server and drops further ones.
    const knocking: Socket[] = Array.from({ length: 8 }, () =>
      connectSocket(silent.port, '127.0.0.1').on('error', () => {}),
    )
    await Promise.all(knocking.slice(0, 2).map((socket) => once(socket, 'connect')))
    const cache = await open(silent.url, { socket_timeout: 600 })
    await expect(cache.ping()).rejects.toThrow(/took longer than 0.5 s|timeout/i)
    for (const socket of knocking) socket.destroy()
    await silent.kill()
  })
})

describe('an outage', () => {
  it('kill -9: everything falls through, and comes back after a restart', async () => {
    const cache = await open()
    await cache.set('key', 'old', 60)
    await server.kill()
    for (let index = 0; index < 200; index++) expect(await cache.get('key')).toBeNull()
    await cache.set('key', 'lost', 60)
    await cache.delete('key')
    expect(messages).toEqual([GONE])
    await server.restart()
    await comesBack(cache)
    expect(await cache.get('key')).toBeNull()
    await cache.set('key', 'new', 60)
    expect(await cache.get('key')).toBe('new')
    expect(messages).toEqual([GONE, BACK])
  })

  it('a stalled server delays the first callers only, and comes back when it answers', async () => {
    const cache = await open()
    await cache.set('key', 'value', 60)
    server.stall()
    // One wait after the other would exceed the time limit of a test.
    for (let index = 0; index < 2_000; index++) expect(await cache.get('key')).toBeNull()
    expect(messages).toEqual([GONE])
    server.resume()
    await comesBack(cache)
    expect(await cache.get('key')).toBe('value')
  })

  it('under load is over for everybody at once', async () => {
    const cache = await open(server.url, { max_connections: 2, pool_timeout: 600 })
    await cache.ping()
    server.stall()
    const values = await Promise.all(Array.from({ length: 1_000 }, (_, index) => cache.get(`key-${index}`)))
    expect(new Set(values)).toEqual(new Set([null]))
    expect(messages).toEqual([GONE])
  })

  it('can come again and again', async () => {
    const cache = await open()
    for (let round = 0; round < 3; round++) {
      await cache.set('key', `${round}`, 60)
      expect(await cache.get('key')).toBe(`${round}`)
      await server.kill()
      expect(await cache.get('key')).toBeNull()
      await server.restart()
      await comesBack(cache)
    }
    expect(messages).toEqual([GONE, BACK, GONE, BACK, GONE, BACK])
  })

  it('that lasts leaves one connection behind at most', async () => {
    const before = await connections()
    const cache = await open()
    await cache.ping()
    server.stall()
    await used(cache)
    server.resume()
    await comesBack(cache)
    await vi.waitFor(async () => expect(await connections()).toBe(before + 1))
  })
})

it('a full server refuses to keep more and goes on answering', async () => {
  const cache = await open()
  await cache.set('key', 'value', 60)
  await server.ask(['CONFIG', 'SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'])
  await cache.set('key', 'more', 60)
  expect(await cache.get('key')).toBe('value')
  expect(messages).toEqual(['cache refuses a command'])
  await server.ask(['CONFIG', 'SET', 'maxmemory', '0'])
})
