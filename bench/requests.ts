import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { migrate } from '../src/data/db/migrate.ts'
import { serve } from '../src/runtime/serve.ts'
import { createIssuer, type Issuer } from '../test/helpers/issuer.ts'
import { installRuntimes, type Runtime } from '../test/suites/runtimes/install.ts'
import { startStores } from '../test/suites/runtimes/stores.ts'
import { type Figure, percentile, type Section } from './lib/report.ts'
import { seedSessions } from './seed-sessions.ts'

const CONNECTIONS = 16
/** The flags of `npm run core`. */
const AS_SHIPPED = ['--min-semi-space-size=4', '--max-semi-space-size=4']

/**
 * Measures authenticated requests per second of the core on each runtime. The baseline, a bare route with the same
 * statements, runs in turns with it on one database.
 */
export async function benchRequests(options: { turns: number; turn_ms: number }): Promise<Section> {
  const stores = await startStores()
  const issuer = await startIssuer()
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

/** Finds the runtimes: Node always, the others if they can be installed. */
async function findRuntimes(notes: string[]): Promise<Runtime[]> {
  try {
    return await installRuntimes()
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    const text = `SKIPPED: Deno and Bun could not be installed (${reason}).`
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
  const headers = { authorization: `Bearer ${token}` }
  const start = async (entry: string, args: readonly string[] = []) => {
    const logPath = `${env.PLATFORM_CONFIG}.${runtime.name}.log`
    const server = await startServer(runtime, entry, { args, env, logPath })
    servers.push(server)
    return server
  }
  try {
    const core = await start('routes/main.ts', runtime.name === 'node' ? AS_SHIPPED : [])
    const bare = await start('bench/bare-server.ts')
    const figures: Figure[] = []
    for (const route of ['/api/v1/users/me', '/api/v1/sessions/list']) {
      const measure = ({ url }: StartedServer) => measureRequestsPerSecond(url + route, headers, options.turn_ms)
      for (const server of [core, bare]) await measure(server)
      const turns: Turn[] = []
      for (let turn = 0; turn < options.turns; turn++)
        turns.push({ core: await measure(core), bare: await measure(bare) })
      figures.push(...figuresOf(`${runtime.name}: ${route}`, turns))
    }
    return figures
  } finally {
    for (const server of servers) server.stop()
  }
}

/** Requests per second of both servers, one after the other. */
interface Turn {
  core: number
  bare: number
}

function figuresOf(name: string, turns: readonly Turn[]): Figure[] {
  const median = (pick: (turn: Turn) => number) => percentile(turns.map(pick), 0.5)
  return [
    { name, value: median(({ core }) => core), unit: '/s' },
    { name: `${name}, bare`, value: median(({ bare }) => bare), unit: '/s' },
    { name: `${name}, ratio`, value: median(({ core, bare }) => core / bare), unit: 'x', aim: 0.7, at_least: true },
  ]
}

type StartedServer = Awaited<ReturnType<typeof startServer>>

/**
 * Starts a server and waits for the log line with its address. The log goes to a file, because a pipe that this busy
 * process reads would slow the server down.
 */
async function startServer(
  runtime: Runtime,
  entry: string,
  options: { args: readonly string[]; env: Record<string, string>; logPath: string },
) {
  const log = openSync(options.logPath, 'w')
  const child = spawn(runtime.command, [...runtime.args, ...options.args, entry], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...options.env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(100)) {
    const text = await readFile(options.logPath, 'utf8')
    const url = /"message":"core ready".*?"address":"([^"]+)"/.exec(text)?.[1]
    if (url) return { url, stop: () => child.kill('SIGKILL') }
    if (child.exitCode !== null) break
  }
  child.kill('SIGKILL')
  throw new Error(`${entry} did not start on ${runtime.name}:\n${await readFile(options.logPath, 'utf8')}`)
}

/**
 * Measures requests per second over connections that stay open, each with one request at a time. It is written with
 * plain sockets, so that the client takes as little processor time as possible from the server.
 * Errors: an answer that is not 200.
 */
async function measureRequestsPerSecond(url: string, headers: Record<string, string>, ms: number): Promise<number> {
  const { hostname, port, pathname, search } = new URL(url)
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const message = `${lines.join('\r\n')}\r\n\r\n`
  const end = performance.now() + ms
  const started = performance.now()
  const counts = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => runConnection(hostname, Number(port), message, end)),
  )
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - started)) * 1000
}

function runConnection(host: string, port: number, message: string, end: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0
    let buffered = ''
    const socket: Socket = connect({ host, port, noDelay: true }, () => socket.write(message))
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (text: string) => {
      buffered += text
      if (!isWhole(buffered)) return
      if (!buffered.startsWith('HTTP/1.1 200')) return reject(new Error(`an answer was ${buffered.slice(0, 200)}`))
      answered++
      buffered = ''
      if (performance.now() < end) return socket.write(message)
      socket.removeAllListeners('close')
      socket.destroy()
      resolve(answered)
    })
  })
}

/** True if the text holds one whole answer, by its length or by its last chunk. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= head + 4 + Number(length)
}
