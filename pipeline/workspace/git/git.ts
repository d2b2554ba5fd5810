import type { GitConfig } from '../../../config/types.ts'
import { internal, repositoryUnreachable } from '../../../src/base/errors.ts'
import { resolveAllowedAddresses } from '../../../src/repository/allowed-addresses.ts'
import { type HostResolver, remoteUrl } from '../../../src/repository/remote.ts'
import { type ProcessOutput, runProcess } from './run-process.ts'
import { createGitEnvironment } from './settings.ts'

export interface GitOptions {
  cwd: string
  /** Milliseconds. The default is 300 s. */
  timeoutMs?: number
  input?: string
  maxOutput?: number
  signal?: AbortSignal
}

/**
 * Runs git in a clone, without a shell and without prompts. An exit code other than 0 is a result and no error.
 * Errors: the signal's reason when it fires.
 */
export type LocalGit = (args: readonly string[], options: GitOptions) => Promise<ProcessOutput>

/** Runs git for one repository. */
export interface Git {
  /** Address of the remote, without user and secrets. */
  readonly url: string
  /** Runs commands that do not use the network. */
  readonly local: LocalGit
  /**
   * Runs commands that use the network. Looks up the addresses of the host first and lets git connect to these alone.
   * Errors: 400 when one of them is not public.
   */
  readonly network: LocalGit
}

const TIMEOUT_MS = 300_000

export const createLocalGit =
  (config: GitConfig): LocalGit =>
  (args, options) =>
    runGit(args, options, createGitEnvironment(config))

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
      return runGit(args, options, createGitEnvironment(config, { url, addresses }))
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
    timeoutMs: TIMEOUT_MS,
    ...options,
  })
  options.signal?.throwIfAborted()
  return output
}

/**
 * Answers what a command has printed.
 * Errors: 500 with git's own text when the command failed.
 */
export function mustSucceed(git: Pick<Git, 'url'>, clone: string, output: ProcessOutput): string {
  if (output.code !== 0) throw internal(describeGitFailure(output, { clone, url: git.url }))
  return output.stdout
}

/** Git's own text about a failed command, for users: paths of the machine and addresses are removed from it. */
export function describeGitFailure(output: ProcessOutput, options: { clone: string; url: string }): string {
  if (output.stopped) return `git was stopped (${output.stopped})`
  const text = (output.stderr.trim() || output.stdout.trim() || `exit code ${output.code}`)
    .replaceAll(options.clone, '.')
    .replaceAll(options.url, 'the repository')
    .replace(/\/\/[^/\s@]*@/g, '//')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const MAX_TEXT = 2_000
