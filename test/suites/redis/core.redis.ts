import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { type Cache, connectCache } from '../../../src/data/cache/cache.ts'
import { sessionAggregateKey } from '../../../src/rounds/round.ts'
import type { Running } from '../../../src/runtime/serve.ts'
import { createTestCore, ENVIRONMENT, type TestCore } from '../../helpers/core.ts'
import { runCore } from '../../helpers/core-process.ts'
import { temporaryFolder } from '../../helpers/folder.ts'
import { listen } from '../../helpers/listen.ts'
import { openSession, runRound } from '../../helpers/sessions.ts'
import { type RedisServer, startRedis } from './server.ts'

const DEFAULTS = {
  redis_url_env: '',
  max_connections: 20,
  socket_connect_timeout: 2,
  socket_timeout: 2,
  pool_timeout: 2,
}

let redis: RedisServer
let cache: Cache
let core: TestCore
let running: Running
let session: string

beforeAll(async () => {
  redis = await startRedis()
  cache = await connectCache({ ...DEFAULTS, url: redis.url }, silentLogger, globalThis.fetch)
  await cache.ping()
  core = await createTestCore({ context: { cache } })
  running = await listen(core.app)
  const me = await (await fetch(`${running.url}/api/v1/users/me`)).json()
  session = await openSession(core.context, me.id)
  await (await runRound(core.context, session)).finish('completed', 'Done')
})
afterAll(async () => {
  redis?.resume()
  await running?.close(1_000)
  await core?.close()
  await cache?.close()
  await redis?.kill()
})

const detail = async () => {
  const answer = await fetch(`${running.url}/api/v1/sessions?id=${session}`)
  expect(answer.status).toBe(200)
  return answer.json()
}
const entry = () => redis.ask(['GET', sessionAggregateKey(session)])

describe('the session detail', () => {
  it('of a finished session is kept for a day and a little, and taken away by the next round', async () => {
    const first = await detail()
    expect(JSON.parse(String(await entry()))).toMatchObject({ uuid: session, current_status: 'completed' })
    const ttl = Number(await redis.ask(['TTL', sessionAggregateKey(session)]))
    expect(ttl).toBeGreaterThan(86_000)
    expect(ttl).toBeLessThanOrEqual(95_040)
    expect(await detail()).toEqual(first)
    const iteration = await core.call('POST', '/api/v1/iac/generate', { json: { q: 'more', session_id: session } })
    expect(iteration.status).toBe(202)
    expect(await entry()).toBeNull()
    await (await runRound(core.context, session)).finish('completed', 'Done again')
  })

  it('is served while the cache is stalled, every time, and as it is in the database', async () => {
    const before = await detail()
    expect(await entry()).not.toBeNull()
    redis.stall()
    // Fifty times the cache's timeout would exceed the time limit of a test.
    for (let index = 0; index < 50; index++) expect(await detail()).toEqual(before)
    await core.context.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${session}`
    expect(await detail()).toMatchObject({ is_blocked: true })
    redis.resume()
  })

  it('of an entry that survived an outage is not outdated', async () => {
    await vi.waitFor(
      async () => {
        await detail()
        expect(JSON.parse(String(await entry()))).toMatchObject({ is_blocked: true })
      },
      { timeout: 20_000, interval: 200 },
    )
    expect(await detail()).toMatchObject({ is_blocked: true })
  })

  it('is served while the cache is gone and when it is back', async () => {
    const before = await detail()
    await redis.kill()
    for (let index = 0; index < 20; index++) expect(await detail()).toEqual(before)
    await redis.restart()
    await vi.waitFor(
      async () => {
        expect(await detail()).toEqual(before)
        expect(await entry()).not.toBeNull()
      },
      { timeout: 20_000, interval: 200 },
    )
  })
})

describe('boot', () => {
  const folder = temporaryFolder()

  /** Runs the core until it exits. Returns its last log entry. */
  const boot = async (url: string, yaml = '', env: Record<string, string> = {}) => {
    const file = join(folder, `${crypto.randomUUID()}.yaml`)
    await writeFile(file, `storage: { endpoint_url: "http://127.0.0.1:1", max_attempts: 1 }\n${yaml}`)
    return runCore({
      ...ENVIRONMENT,
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
      PLATFORM_CONFIG: file,
      PLATFORM_SQL_DATABASE_URL: core.database.url,
      PLATFORM_REDIS_URL: url,
      ...env,
    })
  }
  /** The error of the step after the cache, which shows that it was reached. */
  const passed = expect.stringMatching(/^Failed to initialize object storage: /)

  it.each([
    ['is closed', () => 'redis://127.0.0.1:1/0', /^Failed to initialize redis: .*ECONNREFUSED/],
    [
      'gets a wrong password',
      () => redis.url.replace(/:[^:@]*@/, ':wrong-password@'),
      /^Failed to initialize redis: WRONGPASS/,
    ],
    [
      'has another scheme',
      () => 'memcached://127.0.0.1:1',
      /^Failed to initialize redis: the cache URL must begin with/,
    ],
  ])('fails when the cache %s', async (_, url, text) => {
    const { code, message, out } = await boot(url())
    expect([code, message]).toEqual([1, expect.stringMatching(text)])
    expect(out).not.toContain('wrong-password')
  })

  it('fails when the cache is silent, after its timeout', async () => {
    redis.stall()
    const outcome = await boot(redis.url, 'redis: { socket_timeout: 0.5 }')
    redis.resume()
    expect(outcome).toMatchObject({
      code: 1,
      message: 'Failed to initialize redis: the greeting of the cache took longer than 0.5 s',
    })
  })

  it('fails when the certificate is not trusted', async () => {
    const { code, message } = await boot(redis.tls_url, '', { NODE_EXTRA_CA_CERTS: '' })
    expect([code, message]).toEqual([1, expect.stringMatching(/^Failed to initialize redis: .*certificate/)])
  })

  it.each([
    ['redis://', () => [redis.url, '']],
    ['rediss://', () => [redis.tls_url, '']],
    ['redis.default_url, with the variable empty', () => ['', `redis: { default_url: "${redis.url}" }`]],
  ])('goes on with %s', async (_, settings) => {
    const [url = '', yaml = ''] = settings()
    expect(await boot(url, yaml)).toMatchObject({ code: 1, message: passed })
  })

  it('reads the address from the variable that redis.redis_url_env names', async () => {
    const yaml = 'redis: { redis_url_env: CACHE_ADDRESS }'
    expect(await boot('redis://127.0.0.1:1', yaml, { CACHE_ADDRESS: redis.url })).toMatchObject({
      code: 1,
      message: passed,
    })
  })
})
