import { readFile, writeFile } from 'node:fs/promises'
import { migrate } from '../src/data/db/migrate.ts'
import { installRuntimes, type Runtime } from '../test/suites/runtimes/install.ts'
import { startStores } from '../test/suites/runtimes/stores.ts'
import { processorTime } from './lib/process.ts'
import type { Figure, Section } from './lib/report.ts'
import { percentile } from './lib/statistics.ts'
import { seedSessions } from './lists/seed.ts'
import { startIssuer } from './requests/issuer.ts'
import { measureRequestsPerSecond } from './requests/load.ts'
import { type StartedServer, startServer } from './requests/start-server.ts'

const ROUTES = ['/api/v1/users/me', '/api/v1/sessions/list']
const CONNECTIONS = 16
const AIM = 0.7
/** The flags that `npm run core` sets. */
const AS_SHIPPED = ['--min-semi-space-size=4', '--max-semi-space-size=4']

/**
 * Measures authenticated requests per second of the core and of a bare route that runs the same statements. They take
 * turns on one database, on each runtime.
 */
export async function benchRequests(options: { turns: number; turn_ms: number }): Promise<Section> {
  const stores = await startStores()
  const issuer = await startIssuer('bench')
  const figures: Figure[] = []
  const notes = [
    `${CONNECTIONS} connections, one request at a time on each; ratios are medians of ${options.turns} turns.`,
  ]
  try {
    await migrate(stores.sql)
    const owner = await seedSessions(stores.sql, 1_000)
    await stores.sql`
      UPDATE users SET issuer = ${issuer.url}, subject = 'bench',
             email = 'bench@example.org', display_name = 'Bench' WHERE id = ${owner}`
    const config = stores.env.PLATFORM_CONFIG ?? ''
    await writeFile(config, `${await readFile(config, 'utf8')}oidc: { issuer_url: "${issuer.url}", client_id: core }\n`)
    const env = { ...stores.env, BENCH_ISSUER: issuer.url }
    for (const runtime of await findRuntimes(notes))
      figures.push(...(await benchRuntime(runtime, env, issuer.token, options)))
  } finally {
    await issuer.close()
    await stores.close()
  }
  return { title: 'Requests beside a bare route with the same statements', figures, notes }
}

/** Finds the runtimes: Node always, the others when they can be installed. */
async function findRuntimes(notes: string[]): Promise<Runtime[]> {
  try {
    return await installRuntimes()
  } catch (error) {
    const text =
      'SKIPPED: Deno and Bun could not be installed ' +
      `(${error instanceof Error ? error.message.split('\n')[0] : error}).`
    console.error(text)
    notes.push(text)
    return [{ name: 'node', version: process.versions.node, command: process.execPath, args: [] }]
  }
}

async function benchRuntime(
  runtime: Runtime,
  env: Record<string, string>,
  token: string,
  options: { turns: number; turn_ms: number },
): Promise<Figure[]> {
  const servers: StartedServer[] = []
  const start = async (entry: string, args: readonly string[] = []) => {
    const logPath = `${env.PLATFORM_CONFIG}.${runtime.name}.log`
    const server = await startServer(runtime, entry, { args, env, logPath: logPath })
    servers.push(server)
    return server
  }
  try {
    const core = await start('routes/main.ts', runtime.name === 'node' ? AS_SHIPPED : [])
    const bare = await start('bench/requests/bare-server.ts')
    const figures: Figure[] = []
    for (const route of ROUTES) {
      const measure = (server: StartedServer) => measureTurn(server, route, token, options.turn_ms)
      for (const server of [core, bare]) await measure(server)
      const turns: { core: Turn; bare: Turn }[] = []
      for (let turn = 0; turn < options.turns; turn++)
        turns.push({ core: await measure(core), bare: await measure(bare) })
      figures.push(...figuresOf(`${runtime.name}: ${route}`, turns))
    }
    return figures
  } finally {
    for (const server of servers) server.stop()
  }
}

interface Turn {
  per_second: number
  /** Processor time of the server for one request, in microseconds. */
  processor_us: number
}

async function measureTurn(server: StartedServer, route: string, token: string, ms: number): Promise<Turn> {
  const before = processorTime(server.pid)
  const perSecond = await measureRequestsPerSecond(
    server.url + route,
    { authorization: `Bearer ${token}` },
    { connections: CONNECTIONS, ms },
  )
  return {
    per_second: perSecond,
    processor_us: ((processorTime(server.pid) - before) * 1000) / ((perSecond * ms) / 1000),
  }
}

function figuresOf(name: string, turns: readonly { core: Turn; bare: Turn }[]): Figure[] {
  const median = (pick: (turn: { core: Turn; bare: Turn }) => number) => percentile(turns.map(pick), 0.5)
  const ratio = median(({ core, bare }) => core.per_second / bare.per_second)
  return [
    { name, value: median(({ core }) => core.per_second), unit: '/s' },
    { name: `${name}, bare`, value: median(({ bare }) => bare.per_second), unit: '/s' },
    { name: `${name}, ratio`, value: ratio, unit: 'x', aim: AIM, at_least: true },
    { name: `${name}, processor time`, value: median(({ core }) => core.processor_us), unit: 'us' },
    { name: `${name}, processor time, bare`, value: median(({ bare }) => bare.processor_us), unit: 'us' },
  ]
}
