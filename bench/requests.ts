import { readFile, writeFile } from 'node:fs/promises'
import { migrate } from '../src/data/db/migrate.ts'
import { serve } from '../src/runtime/serve.ts'
import { createIssuer, type Issuer } from '../test/helpers/issuer.ts'
import type { Runtime } from '../test/suites/runtimes/install.ts'
import { startStores } from '../test/suites/runtimes/stores.ts'
import { type Load, measureLoad } from './lib/load.ts'
import { type Figure, percentile, type Section, type Table } from './lib/report.ts'
import { findRuntimes, type StartedServer, startServer } from './lib/server.ts'
import { seedSessions } from './seed-sessions.ts'

const CONNECTIONS = 16
/** The routes, with the requests of a turn. */
const ROUTES = { '/api/v1/users/me': 3_000, '/api/v1/sessions/list': 1_000 }
/** Turns that are not counted: until a server is warm, the compiler takes a large part of its processor time. */
const WARM_UP = 5
/** The flags of `npm run core`. */
const AS_SHIPPED = ['--min-semi-space-size=4', '--max-semi-space-size=4']

/**
 * Measures authenticated requests per second of the core on each runtime, and the processor time of each. The
 * baselines, a bare route with the same statements and on Node the same routes in Fastify, run in turns with it on one
 * database.
 * @param options.share of the requests of a turn that are sent, 0 to 1
 */
export async function benchRequests(options: { turns: number; share: number }): Promise<Section> {
  const stores = await startStores()
  const issuer = await startIssuer()
  const measured: Measured[] = []
  const notes = [
    `${CONNECTIONS} connections, one request at a time on each; all are medians of ${options.turns} turns.`,
    'Processor time is that of the server process alone, a request; the ratio is that of the other server to the core.',
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
      measured.push(...(await benchRuntime(runtime, env, issuer.token, options)))
  } finally {
    await issuer.close()
    await stores.close()
  }
  const title = 'Servers'
  const rows = measured.flatMap((each) => each.rows)
  return {
    title: 'Requests beside a bare route with the same statements, and beside Fastify',
    figures: measured.flatMap(({ figures }) => figures),
    tables: [{ title, columns: ['route', 'requests/s', 'processor time, us'], rows }],
    notes,
  }
}

/** Starts an identity provider on this machine, with an hour-long token of the subject `bench`. */
async function startIssuer(): Promise<{ url: string; token: string; close(): Promise<void> }> {
  let issuer: Issuer | null = null
  const answer = (url: string) =>
    url.endsWith('/keys') ? { keys: issuer?.keys } : { issuer: server.url, jwks_uri: `${server.url}/keys` }
  const server = await serve(({ url }) => Response.json(answer(url)), { port: 0, hostname: '127.0.0.1' })
  issuer = await createIssuer(server.url)
  const claims = { email: 'bench@example.org', name: 'Bench', exp: Math.floor(Date.now() / 1000) + 3600 }
  return { url: server.url, token: await issuer.token('bench', claims), close: () => server.close(500) }
}

/** The servers that take turns: the core, the same statements without anything else, and the same in Fastify. */
const ENTRIES = { core: 'routes/main.ts', bare: 'bench/bare-server.ts', fastify: 'bench/fastify-server.ts' }
type Contender = keyof typeof ENTRIES
/** One measurement of each server, one after the other. */
type Turn = { [Name in Contender]?: Load }

/** Measures the servers of one runtime: Fastify only on Node, for which it is written. */
async function benchRuntime(
  runtime: Runtime,
  env: Record<string, string>,
  token: string,
  options: { turns: number; share: number },
): Promise<Measured[]> {
  const names: Contender[] = runtime.name === 'node' ? ['core', 'bare', 'fastify'] : ['core', 'bare']
  const servers: (StartedServer & { name: Contender })[] = []
  const headers = { authorization: `Bearer ${token}` }
  try {
    for (const name of names) {
      const args = runtime.name === 'node' && name === 'core' ? AS_SHIPPED : []
      const logPath = `${env.PLATFORM_CONFIG}.${runtime.name}.log`
      servers.push({ name, ...(await startServer(runtime, ENTRIES[name], { args, env, logPath })) })
    }
    const measured: Measured[] = []
    for (const [route, requests] of Object.entries(ROUTES)) {
      const load = { connections: CONNECTIONS, requests: Math.round(requests * options.share) }
      for (let turn = 0; turn < WARM_UP; turn++)
        for (const server of servers) await measureLoad(server, { route, headers }, load)
      const turns: Turn[] = []
      for (let turn = 0; turn < options.turns; turn++) {
        const found: Turn = {}
        for (const server of servers) found[server.name] = await measureLoad(server, { route, headers }, load)
        turns.push(found)
      }
      measured.push(measuredOf(`${runtime.name}: ${route}`, turns))
    }
    return measured
  } finally {
    for (const server of servers) server.stop()
  }
}

interface Measured {
  figures: Figure[]
  rows: Table['rows']
}

/** Least share of the rate of the bare route, and of the processor time of the core that the bare route takes. */
const AIM = 0.85

function measuredOf(name: string, turns: readonly Turn[]): Measured {
  const median = (pick: (turn: Turn) => number) => percentile(turns.map(pick), 0.5)
  const figure = (kind: string, pick: (turn: Turn) => number, aim: number): Figure => ({
    ...{ name: `${name}, ${kind}`, value: median(pick), unit: 'x', aim, at_least: true },
  })
  const names = Object.keys(turns[0] ?? {}) as Contender[]
  const cpu = (turn: Turn, server: Contender) => turn[server]?.cpu_us ?? Number.NaN
  const rate = (turn: Turn, server: Contender) => turn[server]?.per_second ?? Number.NaN
  const kinds = names
    .filter((server) => server !== 'core')
    .flatMap((server) => {
      const aim = server === 'bare' ? AIM : 1
      return [
        figure(`rate to ${server}`, (turn) => rate(turn, 'core') / rate(turn, server), aim),
        figure(`processor time of ${server}`, (turn) => cpu(turn, server) / cpu(turn, 'core'), aim),
      ]
    })
  const rows = names.map((server) => [
    `${name}, ${server}`,
    Math.round(median((turn) => rate(turn, server))),
    Math.round(median((turn) => cpu(turn, server))),
  ])
  return { figures: kinds, rows }
}
