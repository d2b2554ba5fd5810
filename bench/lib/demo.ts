import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../../dev/stack/data-folder.ts'

const run = promisify(execFile)

/**
 * Runs the demo on a data folder, on the stack that runs there or on a new one, and parses its last line. Errors: its
 * output when it fails.
 */
export async function runDemo<Result>(folder: string, ...args: string[]): Promise<Result> {
  const options = { cwd: PROJECT_ROOT, env: { ...process.env, PLATFORM_PORT: undefined }, maxBuffer: 2 ** 26 }
  const command = ['dev/demo.ts', ...args, '--json', '--data', folder]
  const { stdout } = await run(process.execPath, command, options).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${error.message}\n${error.stdout ?? ''}`, { cause: error })
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}') as Result
}
