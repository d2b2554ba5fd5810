import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createClient } from 'redis'
import { listen } from '../../../dev/server.ts'

/** The values that `run.ts` passes to the tests. */
export interface Installation {
  server: string
  /** Folder of certificates, and of `<pid>.pid` of running servers. */
  folder: string
  ca_file: string
  cert: string
  key: string
}

const PASSWORD = 'p@ss/wörd:1'

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

const installation: Installation = JSON.parse(process.env.REDIS_INSTALLATION ?? '{}')

/** Starts a real server with a password on two free loopback ports, one of them TLS. */
export async function startRedis(options: string[] = []): Promise<RedisServer> {
  const [port, tls_port] = [await freePort(), await freePort()]
  let running = await launch(port, tls_port, options)
  const url = (scheme: string, at: number) => `${scheme}://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/0`
  return {
    url: url('redis', port),
    tls_url: url('rediss', tls_port),
    port,
    ask: async (command, database = 0) => {
      const client = createClient({ url: url('redis', port), database, socket: { reconnectStrategy: false } })
      client.on('error', () => {})
      await client.connect()
      return client.sendCommand(command).finally(() => client.destroy())
    },
    kill: async () => {
      if (running.exitCode !== null || running.signalCode !== null) return
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      await ended
    },
    restart: async () => {
      running = await launch(port, tls_port, options)
    },
    stall: () => void running.kill('SIGSTOP'),
    resume: () => void running.kill('SIGCONT'),
  }
}

async function launch(port: number, tls_port: number, options: string[]): Promise<ChildProcess> {
  const { server, folder, ca_file, cert, key } = installation
  const [cert_file, key_file] = [join(folder, `${port}.crt`), join(folder, `${port}.key`)]
  await writeFile(cert_file, cert)
  await writeFile(key_file, key, { mode: 0o600 })
  const settings = {
    ...{ port, bind: '127.0.0.1', requirepass: PASSWORD, save: '', appendonly: 'no', dir: folder },
    ...{ 'tls-port': tls_port, 'tls-cert-file': cert_file, 'tls-key-file': key_file, 'tls-ca-cert-file': ca_file },
    'tls-auth-clients': 'no',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(server, [...flags, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
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
      if (output.includes('Ready to accept connections')) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output}`)))
  })
}

async function freePort(): Promise<number> {
  const { port, close } = await listen(createServer())
  await close()
  return port
}
