import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { withTemporaryFolder } from '../../dev/files.ts'

const run = promisify(execFile)

/** An engine in its own folder with local state, without the platform. */
export interface HandEngine {
  /** Writes files by path relative to the root. */
  write(files: Record<string, string>): Promise<void>
  remove(file: string): Promise<void>
  /** Runs commands one after the other and returns their total time in seconds, whether they succeed or not. */
  measure(commands: readonly (readonly string[])[]): Promise<number>
}

export const COMMANDS = {
  init: ['init', '-no-color', '-input=false'],
  validate: ['validate', '-no-color'],
  plan: ['plan', '-no-color', '-input=false', '-out', 'session.plan'],
  show: ['show', '-json', '-no-color', 'session.plan'],
  apply: ['apply', '-no-color', '-input=false', '-auto-approve', 'session.plan'],
  pull: ['state', 'pull'],
} as const

/** Runs `work` with an engine in a new folder, which is removed at the end. */
export const withHandEngine = <T>(work: (engine: HandEngine) => Promise<T>): Promise<T> =>
  withTemporaryFolder(async (cwd) => {
    const binary = process.env.IAC_BINARY || (await onPath('tofu')) || 'terraform'
    const env = { ...process.env, CHECKPOINT_DISABLE: '1' }
    return await work({
      write: async (files) => {
        for (const [name, text] of Object.entries(files)) {
          await mkdir(dirname(join(cwd, name)), { recursive: true })
          await writeFile(join(cwd, name), text)
        }
      },
      remove: (file) => rm(join(cwd, file)),
      measure: async (commands) => {
        const started = performance.now()
        for (const args of commands) await run(binary, [...args], { cwd, maxBuffer: 2 ** 24, env }).catch(() => {})
        return (performance.now() - started) / 1000
      },
    })
  })

const onPath = (name: string): Promise<string | null> =>
  run(name, ['version']).then(
    () => name,
    () => null,
  )
