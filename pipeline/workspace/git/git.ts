import type { GitConfig } from '../../../config/types.ts'
import { internal, repositoryUnreachable } from '../../../src/base/errors.ts'
import { resolveAllowedAddresses } from '../../../src/repository/allowed-addresses.ts'
import { type HostResolver, remoteUrl } from '../../../src/repository/remote.ts'
import { type ProcessOutput, runProcess } from './run-process.ts'
import { gitEnvironment } from './settings.ts'

export interface GitOptions {
  cwd: string
  /** Milliseconds. Default 300 s. */
  timeout_ms?: number
  input?: string
  maxOutput?: number
  signal?: AbortSignal
}

/** Runs git in a clone without the network: never a shell, never a prompt. Exit codes are results; an abort throws. */
export type LocalGit = (args: readonly string[], options: GitOptions) => Promise<ProcessOutput>

/** Runs git for one repository. */
export interface Git {
  /** Address of the remote as git is given it: no user, no secret. */
  readonly url: string
  readonly local: LocalGit
  /** Checks the host's addresses first and pins the connection to them; the fixed 400 when one is not public. */
  readonly network: LocalGit
}

const TIMEOUT_MS = 300_000

export const createLocalGit =
  (config: GitConfig): LocalGit =>
  (args, options) =>
    runGit(args, options, gitEnvironment(config))

export function createGit(config: GitConfig, uri: string, resolver: HostResolver): Git {
  const url = remoteUrl(config, uri)
  return {
    url: url.href,
    local: createLocalGit(config),
    network: async (args, options) => {
      const addresses = await resolveAllowedAddresses(config, resolver, url, options.signal).catch((error: unknown) => {
        options.signal?.throwIfAborted()
        throw repositoryUnreachable(error)
      })
      return runGit(args, options, gitEnvironment(config, { url, addresses }))
    },
  }
}

async function runGit(
  args: readonly string[],
  options: GitOptions,
  env: Record<string, string>,
): Promise<ProcessOutput> {
  const output = await runProcess({
    file: 'git',
    args: ['--no-pager', ...args],
    env,
    timeout_ms: TIMEOUT_MS,
    ...options,
  })
  options.signal?.throwIfAborted()
  return output
}

/**
 * What a command printed, when it succeeded.
 * Errors: 500 with git's own words when it did not.
 */
export function mustSucceed(git: Pick<Git, 'url'>, clone: string, output: ProcessOutput): string {
  if (output.code !== 0) throw internal(gitText(output, { clone, url: git.url }))
  return output.stdout
}

/** Git's own words for a failed command, for messages that users see: no path of the machine, no address. */
export function gitText(output: ProcessOutput, options: { clone: string; url: string }): string {
  if (output.stopped) return `git was stopped (${output.stopped})`
  const text = (output.stderr.trim() || output.stdout.trim() || `exit code ${output.code}`)
    .replaceAll(options.clone, '.')
    .replaceAll(options.url, 'the repository')
    .replace(/\/\/[^/\s@]*@/g, '//')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const MAX_TEXT = 2_000
