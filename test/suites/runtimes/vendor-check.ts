import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Runtime } from './install.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')

/** Checks that the vendors' libraries load on this runtime and each get a token. Prints time and memory. */
export async function vendorsGiveTokens(runtime: Runtime): Promise<void> {
  for (const [name, token] of [
    ['azure', 'token_of_/tenant/oauth2/v2.0/token'],
    ['gcp', 'Bearer token_of_/google'],
  ] as const) {
    const { stdout } = await run(
      runtime.command,
      [...runtime.args, join(import.meta.dirname, 'vendor-credentials.ts'), name],
      { cwd: ROOT, timeout: 60_000 },
    )
    const found: { token: string; ms: number; mib: number } = JSON.parse(stdout)
    if (!found.token.startsWith(token)) throw new Error(`${name}: the token is ${found.token}`)
    console.log(`${runtime.name}: first token of ${name} after ${found.ms} ms, with ${found.mib} MiB of memory`)
  }
}
