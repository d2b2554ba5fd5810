import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createClient } from 'redis'
import { listen } from '../../../dev/server.ts'

/** The values that `run.ts` passes to the tests. */
export interface Installation {
  server: string
  /** The program of Valkey, where there is one. */
  valkey: string | null
  /** Folder of certificates, and of `<pid>.pid` of running servers. */
  folder: string
  ca_file: string
  cert: string
  key: string
}

export const PASSWORD = 'p@ss/wörd:1'

export interface RedisServer {
  /** Address with the password, for database 0. */
  url: string
  tls_url: string
  port: number
  /** Runs a command on a new connection, on another database if given. */
  ask(command: string[], database?: number): Promise<unknown>
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again on the same ports, empty. */
  restart(): Promise<void>
  /** Stops answering. The kernel still accepts some connections. */
  stall(): void
  resume(): void
}

export const installation: Installation = JSON.parse(process.env.REDIS_INSTALLATION ?? '{}')

/** Starts a real server with a password on two free loopback ports, one of them TLS. */
export async function startRedis(options: string[] = [], program = installation.server): Promise<RedisServer> {
  const [port, tls_port] = [await freePort(), await freePort()]
  let running = await launch(port, tls_port, options, program)
  const url = (scheme: string, at: number) => `${scheme}://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/0`
  return {
    url: url('redis', port),
    tls_url: url('rediss', tls_port),
    port,
    ask: (command, database) => ask(port, command, database),
    kill: async () => {
      if (running.exitCode !== null || running.signalCode !== null) return
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      await ended
    },
    restart: async () => {
      running = await launch(port, tls_port, options, program)
    },
    stall: () => void running.kill('SIGSTOP'),
    resume: () => void running.kill('SIGCONT'),
  }
}

/** Runs a command on a new connection to a server with the password. */
export async function ask(port: number, command: string[], database = 0, password = PASSWORD): Promise<unknown> {
  const client = createClient({
    socket: { host: '127.0.0.1', port, reconnectStrategy: false },
    password,
    database,
    RESP: 2,
  })
  client.on('error', () => {})
  await client.connect()
  return client.sendCommand(command).finally(() => client.destroy())
}

export async function launch(
  port: number,
  tls_port: number,
  options: string[],
  server = installation.server,
): Promise<ChildProcess> {
  const { folder, ca_file, cert, key } = installation
  const own = join(folder, String(port))
  await mkdir(own, { recursive: true })
  const [cert_file, key_file] = [join(own, 'server.crt'), join(own, 'server.key')]
  await writeFile(cert_file, cert)
  await writeFile(key_file, key, { mode: 0o600 })
  // The program of Valkey that the tests take is built without TLS.
  const tls = {
    ...{ 'tls-port': tls_port, 'tls-cert-file': cert_file, 'tls-key-file': key_file, 'tls-ca-cert-file': ca_file },
    'tls-auth-clients': 'no',
  }
  const settings = {
    ...{
      port,
      bind: '127.0.0.1',
      requirepass: PASSWORD,
      masterauth: PASSWORD,
      save: '',
      appendonly: 'no',
      dir: own,
    },
    ...(server === installation.server ? tls : {}),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  return spawnServer(server, [...flags, ...options])
}

export async function spawnServer(server: string, flags: string[]): Promise<ChildProcess> {
  const child = spawn(server, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const { folder } = installation
  const pid_file = join(folder, `${child.pid}.pid`)
  await writeFile(pid_file, String(child.pid))
  child.once('exit', () => void rm(pid_file, { force: true }).catch(() => {}))
  await ready(child)
  return child
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      if (/Ready to accept connections|Sentinel ID is/.test(output)) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output}`)))
  })
}

export async function freePort(): Promise<number> {
  const { port, close } = await listen(createServer())
  await close()
  return port
}
