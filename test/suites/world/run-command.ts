import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from './part.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** Number of checks that a command made, and of those that failed. */
export interface Counted {
  checks: number
  failed: number
}

/** Runs a command with its output in the open. A run of tests that breaks off counts as one check that failed. */
export async function runCommand(command: Command, folder: string, env: NodeJS.ProcessEnv): Promise<Counted> {
  const report = join(folder, `report-${crypto.randomUUID()}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const args =
    command.kind === 'vitest'
      ? [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...command.args, ...reporters]
      : command.args
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pass)
  const [code] = await once(child, 'exit')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, pass)
  const counted = command.kind === 'vitest' ? await readReport(report) : null
  if (!counted) return { checks: 1, failed: code === 0 ? 0 : 1 }
  // A file that could not be loaded has no test that failed.
  return { checks: counted.checks, failed: code === 0 ? 0 : Math.max(1, counted.failed) }
}

async function readReport(path: string): Promise<Counted | null> {
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) return null
  const { numPassedTests, numFailedTests } = JSON.parse(text) as { numPassedTests: number; numFailedTests: number }
  return { checks: numPassedTests + numFailedTests, failed: numFailedTests }
}
