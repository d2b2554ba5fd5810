import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadCertificates } from '../../../dev/git-host/certificates.ts'
import { listen } from '../../../dev/server.ts'
import type { Runtime } from './install.ts'
import type { Stores } from './stores.ts'
import { startStreamServer } from './stream-server.ts'

/** Runs a script of this folder on a runtime, within a minute. */
const runScript = ({ command, args }: Runtime, script: string, ...values: string[]) =>
  promisify(execFile)(command, [...args, join(import.meta.dirname, script), ...values], {
    cwd: join(import.meta.dirname, '../../..'),
    timeout: 60_000,
  })

/** Checks that tokens signed with Ed25519 are verified on this runtime too. */
export async function edwardsTokensAreVerified(runtime: Runtime): Promise<void> {
  const { stdout } = await runScript(runtime, 'edwards-tokens.ts')
  console.log(`${runtime.name}: ${stdout.trim().replaceAll('\n', ', ')}`)
}

/** Checks that connections of the core's git requests go to the checked addresses only, on this runtime too. */
export async function connectionsArePinned(runtime: Runtime): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-pinned-'))
  const { caPem, cert, key } = await loadCertificates(folder)
  const server = createServer({ cert, key }, (_, response) => response.end('reached'))
  const { port, close } = await listen(server, { scheme: 'https' })
  try {
    await runScript(runtime, 'pinned.ts', String(port), caPem)
  } finally {
    await close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Checks that streamed answers of models are read, cut and stopped on this runtime too. */
export async function modelsStream(runtime: Runtime): Promise<void> {
  const { url, close } = await startStreamServer()
  try {
    await runScript(runtime, 'model-streams.ts', url)
  } finally {
    await close()
  }
}

/** Checks that a worker whose event loop is blocked keeps its leases on this runtime too. */
export async function frozenWorkersKeepLeases(runtime: Runtime, { sql, env }: Stores): Promise<void> {
  const name = `frozen_${runtime.name}`
  await sql`CREATE DATABASE ${sql(name)}`
  const url = new URL(env.PLATFORM_SQL_DATABASE_URL ?? '')
  url.pathname = `/${name}`
  await runScript(runtime, 'frozen.ts', url.href)
}

/** Checks that the vendors' libraries load on this runtime and each get a token. Prints time and memory. */
export async function vendorsGiveTokens(runtime: Runtime): Promise<void> {
  for (const [name, token] of [
    ['azure', 'token_of_/tenant/oauth2/v2.0/token'],
    ['gcp', 'Bearer token_of_/google'],
  ] as const) {
    const { stdout } = await runScript(runtime, 'vendor-credentials.ts', name)
    const found: { token: string; ms: number; mib: number } = JSON.parse(stdout)
    if (!found.token.startsWith(token)) throw new Error(`${name}: the token is ${found.token}`)
    console.log(`${runtime.name}: first token of ${name} after ${found.ms} ms, with ${found.mib} MiB of memory`)
  }
}
