import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadCertificates } from '../../../dev/git-host/certificates.ts'
import { findServer } from './find-server.ts'
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
    return await runTests({ server, folder, ca_file, cert, key })
  } finally {
    await endLeftovers(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
