import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Cache } from '../../../src/data/cache/cache.ts'
import { installation, PASSWORD, type RedisServer, startRedis } from './server.ts'
import { BACK, GONE, openedCaches, works } from './support.ts'
import { askSentinel, type Cluster, SENTINEL_PASSWORD, startCluster, startWatched, type Watched } from './topologies.ts'

const openWith = openedCaches()
/** With time enough for a busy machine: here nothing depends on a limit. */
const open = (url: string) => openWith(url, { socket_connect_timeout: 5, socket_timeout: 5 })
const login = encodeURIComponent(PASSWORD)
/** Enough keys for every part of a cluster to get some. */
const KEYS = Array.from({ length: 60 }, (_, index) => `platform:session:${index}:aggregate`)

async function keepsAll(cache: Cache): Promise<void> {
  await cache.ping()
  for (const key of KEYS) await cache.set(key, `value of ${key}`, 60)
  for (const key of KEYS) expect(await cache.get(key)).toBe(`value of ${key}`)
  await cache.delete(...KEYS)
  for (const key of KEYS) expect(await cache.get(key)).toBeNull()
}

const programs: [string, string][] = [['Redis', installation.server]]
if (installation.valkey) programs.push(['Valkey', installation.valkey])

describe.each(programs)('a cluster of %s', (_, program) => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster(program)
  }, 60_000)
  afterAll(() => cluster?.kill())
  const addressOf = (index: number) => `redis://:${login}@127.0.0.1:${cluster.members[index]?.port}/0`

  it.each([0, 1, 2, 3])('is recognised by the address of member %i, and every key finds its node', async (index) => {
    const { cache, messages } = await open(addressOf(index))
    await keepsAll(cache)
    expect(messages).toEqual([])
  })

  it('takes the address of several members, of which one answers', async () => {
    const { cache } = await open(`redis://:${login}@127.0.0.1:1,127.0.0.1:${cluster.members[2]?.port}`)
    await keepsAll(cache)
  })

  it('has database 0 alone, and says so', async () => {
    const { cache } = await open(addressOf(0).replace(/\/0$/, '/3'))
    await expect(cache.ping()).rejects.toThrow(/SELECT is not allowed in cluster mode|DB index is out of range/)
  })

  it('moves slots while it is used, without an outage', async () => {
    const { cache, messages } = await open(cluster.url)
    const [first, second] = cluster.members
    const key = 'platform:session:moving:aggregate'
    await cache.set(key, 'value', 60)
    const slot = String(await first?.ask(['CLUSTER', 'KEYSLOT', key]))
    const owners = String(await first?.ask(['CLUSTER', 'NODES'])).split('\n')
    const holder = cluster.members.find(({ port }) => {
      const line = owners.find((line) => line.includes(`:${port}@`)) ?? ''
      return [...line.matchAll(/ (\d+)-(\d+)/g)].some(([, from, to]) => Number(from) <= +slot && +slot <= Number(to))
    })
    const other = holder === first ? second : first
    if (!holder || !other) throw new Error('the slot has no holder')
    const [from, to] = [String(await holder.ask(['CLUSTER', 'MYID'])), String(await other.ask(['CLUSTER', 'MYID']))]
    await other.ask(['CLUSTER', 'SETSLOT', slot, 'IMPORTING', from])
    await holder.ask(['CLUSTER', 'SETSLOT', slot, 'MIGRATING', to])
    // ASK: the key lies with the old holder, new ones go to the new one.
    expect(await cache.get(key)).toBe('value')
    await holder.ask(['MIGRATE', '127.0.0.1', String(other.port), key, '0', '2000', 'AUTH', PASSWORD])
    expect(await cache.get(key)).toBe('value')
    await cache.set(key, 'newer', 60)
    for (const member of [other, holder]) await member.ask(['CLUSTER', 'SETSLOT', slot, 'NODE', to])
    // MOVED: the slot has another holder for good.
    expect(await cache.get(key)).toBe('newer')
    await cache.delete(key)
    expect(await cache.get(key)).toBeNull()
    expect(messages).toEqual([])
  })

  it('loses a primary: the cache is off until the replica has taken over, and on again by itself', async () => {
    const { cache, messages } = await open(cluster.url)
    await keepsAll(cache)
    const primary = cluster.members[0]
    await primary?.kill()
    await vi.waitFor(
      async () => {
        for (const key of KEYS) await cache.get(key)
        expect(messages[0]).toBe(GONE)
      },
      { timeout: 10_000 },
    )
    await vi.waitFor(() => keepsAll(cache), { timeout: 30_000, interval: 200 })
    // A node that answers again before all have agreed on the new primary ends the first pause, and begins another.
    expect(messages.length % 2).toBe(0)
    expect(messages).toEqual(messages.map((_, index) => (index % 2 === 0 ? GONE : BACK)))
    const until = messages.length
    await primary?.restart()
    await vi.waitFor(async () => expect(String(await primary?.ask(['ROLE']))).toMatch(/^slave/), { timeout: 20_000 })
    await keepsAll(cache)
    expect(messages).toHaveLength(until)
  })

  it('that is down is off for the check too, although each node answers a ping', async () => {
    const { cache, messages } = await open(cluster.url)
    await cache.ping()
    const [slot] = ['16000']
    const third = cluster.members[2]
    await third?.ask(['CLUSTER', 'DELSLOTS', slot])
    const down = () =>
      vi.waitFor(() => expect(cache.ping()).rejects.toThrow(/CLUSTERDOWN|not served/), { timeout: 20_000 })
    await down()
    expect(await third?.ask(['PING'])).toBe('PONG')
    expect(messages).toEqual([GONE])
    await third?.ask(['CLUSTER', 'ADDSLOTS', slot])
    await works(cache)
    expect(messages).toEqual([GONE, BACK])
  })
})

describe('a cluster with TLS', () => {
  it('is reached by TLS at every member', async () => {
    const cluster = await startCluster(installation.server, { tls: true })
    try {
      const { cache, messages } = await open(cluster.tls_url)
      await keepsAll(cache)
      expect(messages).toEqual([])
    } finally {
      await cluster.kill()
    }
  })
})

describe.each(programs)('sentinels of %s', (_, program) => {
  let watched: Watched
  beforeAll(async () => {
    watched = await startWatched(program)
  }, 60_000)
  afterAll(() => watched?.kill())

  it('name the primary', async () => {
    const { cache, messages } = await open(watched.url)
    await keepsAll(cache)
    await cache.set('key', 'value', 60)
    expect(await watched.primary.ask(['GET', 'key'])).toBe('value')
    expect(messages).toEqual([])
  })

  it('need not all be there', async () => {
    const { cache } = await open(watched.url.replace('@', '@127.0.0.1:1,'))
    await keepsAll(cache)
  })

  it.each([
    ['another name', () => watched.url.replace('/the-cache', '/other'), /watch no primary with the name other/],
    ['no name', () => watched.url.replace('/the-cache', ''), /must name the primary/],
    [
      'a wrong password of the sentinels',
      () => watched.url.replace(/sentinel_password=.*/, 'sentinel_password=x'),
      /WRONGPASS/,
    ],
    ['no password of the sentinels', () => watched.url.replace(/\?.*/, ''), /NOAUTH/],
    ['a wrong password of the primary', () => watched.url.replace(login, 'wrong'), /WRONGPASS/],
    ['closed ports', () => 'redis-sentinel://127.0.0.1:1,127.0.0.1:2/the-cache', /ECONNREFUSED/],
    [
      'the scheme of a server',
      () => `redis://:${encodeURIComponent(SENTINEL_PASSWORD)}@127.0.0.1:${watched.sentinels[0]}`,
      /leads to a sentinel/,
    ],
  ])('with %s: ping says what is wrong', async (_, url, text) => {
    const failure = open(url()).then(({ cache }) => cache.ping())
    await expect(failure).rejects.toThrow(text)
  })

  it('hand over by hand: the old primary answers on, as a replica, and is left', async () => {
    const { cache, messages } = await open(watched.url)
    await works(cache)
    await askSentinel(watched.sentinels[1] ?? 0, ['SENTINEL', 'FAILOVER', 'the-cache'])
    await vi.waitFor(async () => expect(String(await watched.primary.ask(['ROLE']))).toMatch(/^slave/), {
      timeout: 30_000,
    })
    await works(cache)
    expect(await watched.replica.ask(['EXISTS', 'key'])).toBe(1)
    expect(messages).toEqual([GONE, BACK])
  })

  it('promote the replica of a primary that dies: the cache is off for seconds, then on', async () => {
    const { cache, messages } = await open(watched.url)
    await works(cache)
    const roles = String(await watched.primary.ask(['ROLE']))
    const [primary, replica] = roles.startsWith('master')
      ? [watched.primary, watched.replica]
      : [watched.replica, watched.primary]
    await primary.kill()
    await watched.killSentinel(0)
    expect(await cache.get('key')).toBeNull()
    expect(messages).toEqual([GONE])
    await works(cache)
    expect(messages).toEqual([GONE, BACK])
    expect(await replica.ask(['EXISTS', 'key'])).toBe(1)
    // The old primary comes back as a replica and changes nothing.
    await primary.restart()
    await vi.waitFor(async () => expect(String(await primary.ask(['ROLE']))).toMatch(/^slave/), { timeout: 20_000 })
    await works(cache)
    expect(messages).toEqual([GONE, BACK])
  })
})

describe.each(programs)('users of %s', (_, program) => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis([], program)
    for (const user of [
      ['app', 'on', '>p%4zw', '~platform:session:*', '-@all', '+get', '+set', '+del', '+ping'],
      ['reader', 'on', '>pw', '~*', '-@all', '+get', '+ping'],
      ['other', 'on', '>pw', '~other:*', '+@all'],
    ])
      await server.ask(['ACL', 'SETUSER', ...user])
  })
  afterAll(() => server?.kill())
  const as = (user: string, password: string) => `redis://${user}:${password}@127.0.0.1:${server.port}`

  it('with four commands on the keys of the platform are enough, whatever their password holds', async () => {
    for (const password of ['p%4zw', 'p%254zw']) {
      const { cache, messages } = await open(as('app', password))
      await keepsAll(cache)
      expect(messages).toEqual([])
    }
  })

  it.each([
    ['may not write', 'reader'],
    ['may not see the keys', 'other'],
  ])('that %s are told at the check, and tried no further', async (_, user) => {
    const { cache, messages } = await open(as(user, 'pw'))
    await expect(cache.ping()).rejects.toThrow('NOPERM')
    for (let index = 0; index < 5; index++) await cache.set(KEYS[index] ?? '', 'x', 60)
    expect(messages).toEqual([GONE])
  })

  it('that lose a right turn the cache off once, until they have it again', async () => {
    const { cache, messages } = await open(as('app', 'p%4zw'))
    await works(cache, KEYS[0])
    await server.ask(['ACL', 'SETUSER', 'app', '-get'])
    expect(await cache.get(KEYS[0] ?? '')).toBeNull()
    await expect(cache.ping()).rejects.toThrow('NOPERM')
    expect(await cache.get(KEYS[0] ?? '')).toBeNull()
    expect(messages).toEqual([GONE])
    await server.ask(['ACL', 'SETUSER', 'app', '+get'])
    await works(cache, KEYS[0])
    expect(messages).toEqual([GONE, BACK])
  })
})

describe('one server', () => {
  it('takes the primary of two addresses', async () => {
    const primary = await startRedis()
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(primary.port)])
    try {
      const { cache } = await open(`redis://:${login}@127.0.0.1:${replica.port},127.0.0.1:${primary.port}`)
      await keepsAll(cache)
      const { cache: alone } = await open(replica.url)
      await expect(alone.ping()).rejects.toThrow('READONLY')
    } finally {
      await replica.kill()
      await primary.kill()
    }
  })

  it('that evicts loses entries and nothing else', async () => {
    const server = await startRedis(['--maxmemory', '3mb', '--maxmemory-policy', 'allkeys-lru'])
    try {
      const { cache, messages, errors } = await open(server.url)
      const value = 'x'.repeat(20_000)
      for (let index = 0; index < 300; index++) await cache.set(`key-${index}`, value, 60)
      const kept = await Promise.all(Array.from({ length: 300 }, (_, index) => cache.get(`key-${index}`)))
      expect(kept.filter((found) => found === value).length).toBeGreaterThan(0)
      expect(kept.filter((found) => found === null).length).toBeGreaterThan(0)
      expect([messages, errors]).toEqual([[], []])
    } finally {
      await server.kill()
    }
  })

  it('that cannot write its disk still answers reads, and the check passes', async () => {
    const server = await startRedis(['--min-replicas-to-write', '1'])
    try {
      const { cache, messages } = await open(server.url)
      await cache.ping()
      await cache.set('key', 'value', 60)
      expect(await cache.get('key')).toBeNull()
      expect(messages).toEqual(['cache refuses a command'])
      expect(cache.isOn()).toBe(true)
    } finally {
      await server.kill()
    }
  })
})
