import { spawn } from 'node:child_process'

interface GitOutput {
  code: number
  stdout: string
  stderr: string
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

export function git(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<GitOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...GIT_OPTIONS, ...args], {
      cwd: options.cwd,
      env: createGitEnvironment(options.env),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', reject)
    child.once('close', (code) =>
      resolve({
        code: code ?? 1,
        stdout: Buffer.concat(out).toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
      }),
    )
  })
}

/** Runs git, but throws git's own text if the exit code is not 0. */
export async function gitOrThrow(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const output = await git(args, options)
  if (output.code !== 0) throw new Error(`git ${args[0]} failed: ${output.stderr.trim() || output.stdout.trim()}`)
  return output.stdout.trim()
}
