import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Collector, startCollector } from '../../dev/collector/start.ts'
import { listen, type Running } from '../../dev/server.ts'
import { createLogger, silentLogger } from '../../src/base/log.ts'
import { exclusively } from '../../src/data/db/migrate.ts'
import { connect } from '../../src/data/db/pool.ts'
import { openPrompts, readSeedPrompts, withoutMissingCollector } from '../../src/runtime/prompts.ts'
import { configOf } from '../helpers/core.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const started = <T extends Running>(server: T): T => {
  onTestFinished(() => server.close())
  return server
}

type OpenOptions = { role?: 'core' | 'worker'; environment?: string } & Partial<Parameters<typeof openPrompts>[2]>

async function open(url: string, { role = 'core', environment = 'development', ...more }: OpenOptions = {}) {
  const config = await configOf(`environment: ${environment}\ntelemetry: {collector_url: "${url}"}`)
  const waits: number[] = []
  const lines: Record<string, unknown>[] = []
  const prompts = openPrompts(config, role, {
    fetch,
    log: createLogger({ write: (line) => lines.push(JSON.parse(line)) }),
    pause: async (ms) => void waits.push(ms),
    ...more,
  })
  return { prompts, waits, lines }
}

describe('the prompts of a core', () => {
  it('are seeded once, and served by the tag of the environment', async () => {
    const { collector_url, prompts: store }: Collector = started(await startCollector())
    const shipped = await readSeedPrompts()
    const first = await open(collector_url)
    await first.prompts
    expect(first.lines).toMatchObject([{ message: 'prompts seeded', created: shipped.size, present: 0, repaired: 0 }])
    expect(store.names().sort()).toEqual([...shipped.keys()].sort())
    const name = 'general-guidelines-engine'
    const edited = store.add(name, '', {
      model_name: 'gpt-x',
      template: { type: 'chat', messages: [{ role: 'user', content: 'Edited.' }] },
    })
    store.tag(edited.id, 'production')
    const second = await open(collector_url, { environment: 'production' })
    expect(await (await second.prompts).body(name)).toBe('Edited.')
    expect(second.lines).toMatchObject([{ created: 0, present: shipped.size, repaired: 0 }])
    const third = await open(collector_url, { environment: 'staging' })
    expect(await (await third.prompts).body(name)).toBe(shipped.get(name)?.body)
  })

  it('are written once when two cores boot together, and by the second one when the first one dies', async () => {
    const { collector_url, prompts: store }: Collector = started(await startCollector())
    const shipped = await readSeedPrompts()
    const database = await createTestDatabase()
    onTestFinished(database.drop)
    const boot = async (url: string) => {
      const sql = connect(url)
      onTestFinished(() => sql.end({ timeout: 1 }))
      const { prompts, lines } = await open(collector_url, { alone: (work) => exclusively(sql, 'seed_prompts', work) })
      await prompts
      return lines[0]
    }
    // The one with the lock loses the database before it has written anything.
    const dying = connect(database.url, { max: 1 })
    const held = Promise.withResolvers<number>()
    const died = exclusively(dying, 'seed_prompts', async () => {
      const [row] = await database.sql<{ pid: number }[]>`
        SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`
      held.resolve(row?.pid ?? 0)
      return new Promise<never>(() => {})
    })
    died.catch(() => {})
    const pid = await held.promise
    const boots = [boot(database.url), boot(database.url)]
    await database.sql`SELECT pg_terminate_backend(${pid})`
    const counts = await Promise.all(boots)
    await dying.end({ timeout: 1 })
    expect(counts.map((one) => one?.created).sort()).toEqual([0, shipped.size].sort())
    for (const name of shipped.keys()) expect(store.versionsOf(name)).toHaveLength(1)
  })

  it('are the shipped ones without a registry', async () => {
    const { prompts, lines } = await open('')
    expect(await (await prompts).body('general-guidelines-engine')).toBe(
      (await readSeedPrompts()).get('general-guidelines-engine')?.body,
    )
    expect(lines).toEqual([])
  })

  it('are not there when nothing listens', async () => {
    const { url, close } = await listen(createServer())
    await close()
    const { prompts, waits } = await open(`${url}/`)
    await expect(prompts).rejects.toThrow(
      new RegExp(
        `^Failed to seed prompts into ${url}/: ${url}/ unreachable after 8 attempts: ` +
          'the connection failed( \\(ECONNREFUSED\\))?$',
      ),
    )
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
  })

  it('wait for a registry that starts later', async () => {
    const running = started(await startCollector())
    let left = 3
    const late: typeof fetch = (...args) =>
      left-- > 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(...args)
    const { prompts, waits } = await open(running.collector_url, { fetch: late })
    await prompts
    expect(waits).toEqual([500, 1_000, 2_000])
    expect(running.prompts.names()).not.toEqual([])
  })

  it.each([
    500, 503, 401, 301,
  ])('are not there when the registry answers %i, which is not waited for', async (status) => {
    let asked = 0
    const server = createServer((_, response) => {
      asked++
      response.writeHead(status, { location: '/login' }).end('sorry')
    })
    const { url } = started(await listen(server))
    const { prompts, waits } = await open(`${url}/`)
    await expect(prompts).rejects.toThrow(
      `Failed to seed prompts into ${url}/: ${url}/ probe failed: HTTP ${status}: sorry`,
    )
    expect([asked, waits]).toEqual([1, []])
  })

  it('never show a password of the address', async () => {
    const { prompts } = await open('http://user:hidden-password@127.0.0.1:1/')
    await expect(prompts).rejects.toThrow(/^Failed to seed prompts into http:\/\/user:\*\*\*@127.0.0.1:1\/: /)
    await expect(prompts).rejects.not.toThrow('hidden-password')
  })
})

it('a worker neither asks nor seeds at its start', async () => {
  let asked = 0
  const { url } = started(await listen(createServer((_, response) => response.writeHead(404).end(String(asked++)))))
  const { prompts } = await open(`${url}/`, { role: 'worker' })
  const source = await prompts
  expect(asked).toBe(0)
  await expect(source.body('general-guidelines-engine')).rejects.toThrow('Prompt not found: general-guidelines-engine')
  expect(asked).toBe(1)
})

const nowhere = async () => Promise.reject(new Error('ENOTFOUND'))

describe('the default collector', () => {
  it('is done without, and said so, where its host does not exist', async () => {
    const lines: string[] = []
    const config = await withoutMissingCollector(
      await configOf(),
      nowhere,
      createLogger({ write: (line) => lines.push(line) }),
    )
    expect(config.telemetry.collector_url).toBe('')
    expect(lines.join()).toContain('built-in prompts serve')
  })

  it('is used where it exists', async () => {
    const config = await withoutMissingCollector(await configOf(), async () => ['10.0.0.7'], silentLogger)
    expect(config.telemetry.collector_url).toBe('http://phoenix:6006/')
  })

  it('is not what somebody chose: that has to answer', async () => {
    const config = await withoutMissingCollector(
      await configOf('telemetry: { collector_url: "http://collector.invalid/" }'),
      nowhere,
      silentLogger,
    )
    expect(config.telemetry.collector_url).toBe('http://collector.invalid/')
  })
})
