import { readFile, writeFile } from 'node:fs/promises'
import { migrate } from '../src/db/migrate.ts'
import { type CoreProcess, startCore } from '../test/runtimes/core-process.ts'
import { installRuntimes, type Runtime } from '../test/runtimes/install.ts'
import { startStores } from '../test/runtimes/stores.ts'
import type { Figure, Section } from './lib/report.ts'
import { percentile } from './lib/statistics.ts'
import { seedSessions } from './lists/seed.ts'
import { startIssuer } from './requests/issuer.ts'
import { requestsPerSecond } from './requests/load.ts'

const ROUTES = ['/api/v1/users/me', '/api/v1/sessions/list']
const CONNECTIONS = 16
const AIM = 0.7

/**
 * Authenticated requests per second of the core, beside a bare route that runs the same statements,
 * in turns on one database, on each runtime.
 */
export async function benchRequests(options: { turns: number; turn_ms: number }): Promise<Section> {
  const stores = await startStores()
  const issuer = await startIssuer('bench')
  const figures: Figure[] = []
  const notes = [`${CONNECTIONS} connections, one request at a time on each; ratios are medians of ${options.turns} turns.`]
  try {
    await migrate(stores.sql)
    const owner = await seedSessions(stores.sql, 1_000)
    await stores.sql`
      UPDATE users SET issuer = ${issuer.url}, subject = 'bench', email = 'bench@example.org', display_name = 'Bench' WHERE id = ${owner}`
    const config = stores.env.PLATFORM_CONFIG ?? ''
    await writeFile(config, `${await readFile(config, 'utf8')}oidc: { issuer_url: "${issuer.url}", client_id: core }\n`)
    const env = { ...stores.env, BENCH_ISSUER: issuer.url }
    for (const runtime of await runtimes(notes)) figures.push(...(await benchRuntime(runtime, env, issuer.token, options)))
  } finally {
    await issuer.close()
    await stores.close()
  }
  return { title: 'Requests beside a bare route with the same statements', figures, notes }
}

/** Node always; the others where they can be installed. */
async function runtimes(notes: string[]): Promise<Runtime[]> {
  try {
    return await installRuntimes()
  } catch (error) {
    const text = `SKIPPED: Deno and Bun could not be installed (${error instanceof Error ? error.message.split('\n')[0] : error}).`
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
  const servers: CoreProcess[] = []
  const start = async (entry: string) => {
    const server = await startCore(runtime, env, entry)
    servers.push(server)
    return server.url
  }
  try {
    const core = await start('routes/main.ts')
    const bare = await start('bench/requests/bare-server.ts')
    const figures: Figure[] = []
    for (const route of ROUTES) {
      const measure = (base: string, ms: number) =>
        requestsPerSecond(base + route, { authorization: `Bearer ${token}` }, { connections: CONNECTIONS, ms })
      for (const base of [core, bare]) await measure(base, options.turn_ms)
      const turns: { core: number; bare: number }[] = []
      for (let turn = 0; turn < options.turns; turn++)
        turns.push({ core: await measure(core, options.turn_ms), bare: await measure(bare, options.turn_ms) })
      const median = (values: number[]) => percentile(values, 0.5)
      figures.push(
        { name: `${runtime.name}: ${route}`, value: median(turns.map((turn) => turn.core)), unit: '/s' },
        { name: `${runtime.name}: ${route}, bare`, value: median(turns.map((turn) => turn.bare)), unit: '/s' },
        {
          name: `${runtime.name}: ${route}, ratio`,
          value: median(turns.map((turn) => turn.core / turn.bare)),
          unit: 'x',
          aim: AIM,
          at_least: true,
        },
      )
    }
    return figures
  } finally {
    for (const server of servers) server.kill()
  }
}
