import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitConfig } from '../../../config/types.ts'
import { internal, PlatformError, repositoryUnreachable } from '../../../src/base/errors.ts'
import { delay } from '../../../src/base/http.ts'
import { cutEnd } from '../../../src/base/text.ts'
import { resolveAllowedAddresses } from '../../../src/repository/allowed-addresses.ts'
import { MAX_MOVES, movedAddress } from '../../../src/repository/moved.ts'
import { type HostResolver, isConfiguredHost, remoteUrl } from '../../../src/repository/remote.ts'
import { tokenRefused } from '../../../src/repository/sign-in.ts'
import { type ProcessOutput, runProcess } from '../../../src/runtime/run-process.ts'
import { readLastAnswer, traceTo } from './last-answer.ts'
import type { GitPlace } from './place.ts'
import { createGitEnvironment } from './settings.ts'

export interface GitOptions {
  /** The default is the work tree. */
  cwd?: string
  /** Milliseconds. The default is 300 s. */
  timeoutMs?: number
  input?: string | Uint8Array
  maxOutput?: number
  /** Receives stdout in chunks in place of the result; returns false to stop the command. */
  consume?: (chunk: Buffer) => boolean
  signal?: AbortSignal
}

/** Runs git in a clone, without shell and prompts. A non-zero exit code is a result. Errors: the signal's reason. */
export type LocalGit = (args: readonly string[], options?: GitOptions) => Promise<ProcessOutput>

export type Git = ReturnType<typeof createGit>

const TIMEOUT_MS = 300_000

/** @param signal the default of the commands */
export const createLocalGit =
  (config: GitConfig, place: GitPlace, signal?: AbortSignal): LocalGit =>
  (args, options) =>
    runGit(args, { cwd: place.workTree, signal, ...options }, createGitEnvironment(config, place))

/**
 * @param options.signal ends the commands
 * @param options.wrap makes the git of local commands from the plain one
 */
export function createGit(
  config: GitConfig,
  uri: string,
  place: GitPlace,
  options: { resolver: HostResolver; signal?: AbortSignal; wrap?: (plain: LocalGit) => LocalGit },
) {
  const { resolver, signal, wrap = (plain) => plain } = options
  const url = remoteUrl(config, uri)
  const local = wrap(createLocalGit(config, place, signal))
  // Where the repository is, if its host has moved it.
  let current = url
  return {
    /** Address of the remote, without user and secrets. */
    url: url.href,
    place,
    /** Ends the commands. */
    signal,
    limits: config,
    /** Runs commands that do not use the network. */
    local,
    /** Does the same and returns the output. Errors: 500 with git's text. */
    run: async (args: readonly string[], options?: GitOptions) =>
      mustSucceed({ url: url.href, place }, await local(args, options)),
    /**
     * Runs network commands, and stops one when git's directory grows over the limit. After faults on the way it is
     * repeated, when the host says so, and a repository that moved at its host is used at its new address: clones and
     * fetches change nothing at the host, and a push changes nothing where the branch is at its commit already. Errors:
     * 400 when an address of the host is not public; 422 over the size limit.
     */
    network: async (args: readonly string[], options?: GitOptions) => {
      const addresses = await resolveAllowedAddresses(config, resolver, url, signal).catch((error: unknown) => {
        signal?.throwIfAborted()
        throw repositoryUnreachable(error)
      })
      const trace = `${place.directory}.trace`
      const given = { cwd: place.workTree, signal, ...options }
      try {
        for (let [repetition, moves] = [0, 0]; ; ) {
          const env = createGitEnvironment(config, place, { url, addresses, current })
          const output = await runWatched(args, given, { ...env, ...traceTo(trace) })
          output.stderr = output.stderr.replaceAll(current.href, url.href)
          if (output.code === 0 || output.stopped) return output
          const { location, waitMs } = await readLastAnswer(trace)
          const moved =
            MOVED.test(output.stderr) && movedAddress(config, current, `${current.href}/info/refs`, location)
          if (moved && moves++ < MAX_MOVES) {
            current = moved
            continue
          }
          const wait = waitMs ?? REPEAT_AFTER_MS * 2 ** repetition
          const isOver = repetition++ >= REPETITIONS || wait > MAX_WAIT_MS || !FAULT_ON_THE_WAY.test(output.stderr)
          if (isOver) return { ...output, stderr: withTokenWords(output.stderr) }
          await delay(wait, given.signal).catch(() => given.signal?.throwIfAborted())
        }
      } finally {
        await rm(trace, { force: true })
      }
    },
  }

  /** Says what git's words mean, which cannot ask anybody for another password. */
  function withTokenWords(stderr: string): string {
    const isRefused = isConfiguredHost(config, url) && config.token !== '' && TOKEN_REFUSED.test(stderr)
    return isRefused ? `${tokenRefused(config)}\n${stderr}` : stderr
  }

  async function runWatched(
    args: readonly string[],
    given: GitOptions & { cwd: string },
    env: Record<string, string>,
  ): Promise<ProcessOutput> {
    const watch = watchSize(place.directory, config)
    const ended = given.signal ? AbortSignal.any([given.signal, watch.signal]) : watch.signal
    try {
      const output = await runGit(args, { ...given, signal: ended }, env)
      await watch.look()
      watch.signal.throwIfAborted()
      return output
    } finally {
      watch.stop()
    }
  }
}

const REPETITIONS = 3
const REPEAT_AFTER_MS = 500
/** The longest wait that a host may ask for within a round, in milliseconds. */
const MAX_WAIT_MS = 60_000
const TOKEN_REFUSED = /could not read (?:Username|Password)|Authentication failed|returned error: 401/
const MOVED = /returned error: 30[1278]/
/**
 * What git says of servers between, of limits and of connections, and of a branch that moved while the host took the
 * commits: git's HTTP library sends a push again by itself after a cut. What a host itself refuses stays refused.
 */
const FAULT_ON_THE_WAY =
  /HTTP (?:429|5\d\d)|error: (?:429|5\d\d)|RPC failed; curl|Failed to connect|Could not resolve host|Connection (?:reset|refused|timed out)|Empty reply|hung up unexpectedly|unexpected disconnect|early EOF|GnuTLS recv error|SSL_ERROR_SYSCALL|failed to update ref/i

async function runGit(args: readonly string[], options: GitOptions & { cwd: string }, env: Record<string, string>) {
  const request = { file: 'git', args: ['--no-pager', ...args], env, timeoutMs: TIMEOUT_MS }
  const output = await runProcess({ ...request, ...options })
  options.signal?.throwIfAborted()
  return output
}

/** Returns the output of a command. Errors: 500 with git's text when the command failed. */
export function mustSucceed(git: Pick<Git, 'url' | 'place'>, output: ProcessOutput): string {
  if (output.code !== 0) throw internal(describeGitFailure(git, output))
  return output.stdout
}

/** Returns git's text about a failed command for users, without paths of the machine and addresses. */
export function describeGitFailure({ url, place }: Pick<Git, 'url' | 'place'>, output: ProcessOutput): string {
  if (output.stopped) return `git was stopped (${output.stopped})`
  const text = (output.stderr.trim() || output.stdout.trim() || `exit code ${output.code}`)
    .replaceAll(place.workTree, '.')
    .replaceAll(place.directory, '.git')
    .replaceAll(url, 'the repository')
    .replace(/\/\/[^/\s]*@/g, '//')
  return cutEnd(text, MAX_TEXT)
}

const MAX_TEXT = 2_000

export type CloneLimits = Pick<GitConfig, 'max_clone_mib' | 'max_clone_files'>

export const MIB = 1024 * 1024
/** Maximum bytes of a list of files; the number of files has its own limit. */
export const MAX_LISTING = 256 * MIB
/** The modes of a symbolic link and of a submodule in git's lists. */
export const LINK = '120000'
export const SUBMODULE = '160000'
const LOOK_EVERY_MS = 250
/** Git keeps fetched objects in a few packs, so more entries than this need not be measured. */
const MAX_ENTRIES = 20_000

/** Returns the error of a repository over the size limit, with the limit and its configuration key. */
export const repositoryTooLarge = ({ max_clone_mib }: CloneLimits): PlatformError =>
  new PlatformError(
    'RepositoryTooLarge',
    422,
    `The repository takes more than ${max_clone_mib} MiB on the disk, so it is not cloned (limit: git.max_clone_mib).`,
  )

export const tooManyFiles = ({ max_clone_files }: CloneLimits): PlatformError =>
  new PlatformError(
    'RepositoryTooLarge',
    422,
    `The repository has more than ${max_clone_files} files and folders, so it is not checked out ` +
      '(limit: git.max_clone_files).',
  )

/** Watches a git directory during network commands; the signal fires above the limit, `look` measures at once. */
export function watchSize(directory: string, limits: CloneLimits) {
  const grown = new AbortController()
  let looking = false
  const look = async () => {
    const { bytes } = await measure(directory)
    if (bytes > limits.max_clone_mib * MIB) grown.abort(repositoryTooLarge(limits))
  }
  const timer = setInterval(async () => {
    if (looking) return
    looking = true
    await look()
    looking = false
  }, LOOK_EVERY_MS)
  return { signal: grown.signal, look, stop: () => clearInterval(timer) }
}

/** Adds up the sizes of the files below a directory, without following links. Unreadable entries count as 0. */
export async function measure(directory: string): Promise<{ bytes: number; entries: number }> {
  const total = { bytes: 0, entries: 0 }
  const waiting = [directory]
  for (let next = waiting.pop(); next !== undefined && total.entries < MAX_ENTRIES; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name)
      total.entries++
      if (entry.isDirectory()) waiting.push(path)
      else total.bytes += (await lstat(path).catch(() => null))?.size ?? 0
    }
  }
  return total
}
