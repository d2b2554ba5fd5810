import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

interface GitOutput {
  code: number
  stdout: string
  stderr: string
}
interface GitSetting {
  cwd?: string
  env?: Record<string, string>
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Sample Host',
  GIT_AUTHOR_EMAIL: 'sample-host@noreply.invalid',
  GIT_COMMITTER_NAME: 'Sample Host',
  GIT_COMMITTER_EMAIL: 'sample-host@noreply.invalid',
}

/** Makes an environment for git without the operator's configuration, prompts and hooks. */
export function createGitEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    LC_ALL: 'C',
    ...IDENTITY,
    ...extra,
  }
}

/** Options of every command: the folders may belong to another user, and git must start no programs by itself. */
export const GIT_OPTIONS = ['-c', 'safe.directory=*', '-c', 'gc.auto=0', '-c', 'core.hooksPath=/dev/null']

/** Runs git and returns its output, whatever its exit code is. Errors: it cannot be started. */
export async function git(args: readonly string[], { cwd, env }: GitSetting = {}): Promise<GitOutput> {
  const child = spawn('git', [...GIT_OPTIONS, ...args], {
    cwd,
    env: createGitEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return { code: code ?? 1, stdout, stderr }
}

/** Runs git, but throws git's own text if the exit code is not 0. */
export async function gitOrThrow(args: readonly string[], setting: GitSetting = {}): Promise<string> {
  const output = await git(args, setting)
  if (output.code !== 0) throw new Error(`git ${args[0]} failed: ${output.stderr.trim() || output.stdout.trim()}`)
  return output.stdout.trim()
}
