import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Emulator, installAzurite, startAzurite } from './start.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Runs the tests in their own process, with the usual summary. */
function runTests({ port, account, key }: Emulator): ChildProcess {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--project', 'azurite', ...process.argv.slice(2)]
  const env = { ...process.env, AZURITE: JSON.stringify({ port, account, key } satisfies Emulator) }
  return spawn(process.execPath, [vitest, ...args], { cwd: ROOT, env, stdio: 'inherit' })
}

async function main(): Promise<number> {
  const emulator = await startAzurite(await installAzurite())
  try {
    const tests = runTests(emulator)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
    const [code] = await once(tests, 'exit')
    return typeof code === 'number' ? code : 1
  } finally {
    await emulator.stop()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  const details = error instanceof Error && 'stderr' in error ? error.stderr : error
  console.error(`${details}\nTHE BLOB TESTS DID NOT RUN: azurite could not be installed or started.`)
  process.exitCode = 1
}
