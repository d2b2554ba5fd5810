import { createHash } from 'node:crypto'
import { badGateway, REPOSITORY_UNREACHABLE } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { ClaimedRound } from '../../src/sessions/types.ts'
import { type Git, mustSucceed } from './git/git.ts'
import { type Checkout, hiddenPaths } from './types.ts'

const ASK_TIMEOUT_MS = 20_000
const FETCH_TIMEOUT_MS = 300_000

export interface BranchOptions {
  clone: string
  branch: string
  defaultBranch: string
  round: ClaimedRound
  log: Logger
  signal?: AbortSignal
}

/**
 * Checks out the session branch in the clone and makes sure that the remote has it. A round that was interrupted
 * starts again from the commit with which the previous round ended.
 * Errors: 502 when the remote cannot be reached, 500 with git's text when the branch cannot be moved.
 */
export async function checkOutBranch(git: Git, options: BranchOptions): Promise<void> {
  const { branch, defaultBranch, round } = options
  if (branch === defaultBranch) return
  const isNew = round.number === 1 && round.attempt === 1 && round.base_commit === null
  const tip = isNew ? null : await fetchBranch(git, options)
  const target = tip === null ? null : await findStart(git, options, tip)
  await runLocal(git, options, ['checkout', '--quiet', '-B', branch, target ?? `refs/remotes/origin/${defaultBranch}`])
  // The lease names the commit that was read from the remote, so a branch that somebody else has pushed in the
  // meantime is never overwritten.
  if (target === null || target !== tip) await push(git, { ...options, lease: tip ?? '' })
}

/** Fetches the session branch and answers its commit; null when the remote has no such branch. */
async function fetchBranch(git: Git, options: BranchOptions): Promise<string | null> {
  const { clone, branch, signal, log } = options
  const reference = `refs/remotes/origin/${branch}`
  const args = ['fetch', '--quiet', '--depth=1', '--no-tags', 'origin', `+refs/heads/${branch}:${reference}`]
  const output = await git.network(args, { cwd: clone, timeoutMs: FETCH_TIMEOUT_MS, signal })
  if (output.code === 0) return (await runLocal(git, options, ['rev-parse', '--verify', reference])).trim()
  if (output.stderr.includes("couldn't find remote ref")) return null
  log.warn('session branch could not be fetched', { reason: output.stopped ?? output.stderr })
  throw badGateway(REPOSITORY_UNREACHABLE)
}

/** The commit at which the round begins: the tip of the branch; after an interruption the end of the previous round. */
async function findStart(git: Git, options: BranchOptions, tip: string): Promise<string | null> {
  const { round, clone, signal } = options
  if (round.attempt === 1 || round.base_commit === tip) return tip
  const base = round.base_commit
  if (base === null) return null
  const output = await git.network(['fetch', '--quiet', '--depth=1', '--no-tags', 'origin', base], {
    cwd: clone,
    timeoutMs: FETCH_TIMEOUT_MS,
    signal,
  })
  // Some servers do not serve a single commit by its id. It is an ancestor of the tip, so the whole branch has it.
  if (output.code !== 0) await unshallow(git, options)
  return (await runLocal(git, options, ['rev-parse', '--verify', `${base}^{commit}`])).trim()
}

async function unshallow(git: Git, options: BranchOptions): Promise<void> {
  const { clone, branch, signal } = options
  const args = ['fetch', '--quiet', '--unshallow', '--no-tags', 'origin', `refs/heads/${branch}`]
  const output = await git.network(args, { cwd: clone, timeoutMs: FETCH_TIMEOUT_MS, signal })
  if (output.code !== 0) throw badGateway(REPOSITORY_UNREACHABLE)
}

async function runLocal(git: Git, options: BranchOptions, args: string[]): Promise<string> {
  const output = await git.local(args, { cwd: options.clone, timeoutMs: ASK_TIMEOUT_MS, signal: options.signal })
  return mustSucceed(git, options.clone, output)
}

const COMMIT_MESSAGE = 'Platform changes'

/**
 * Commits all changes of the work tree except the override file, and pushes them. Makes no commit when nothing
 * changed.
 * @returns the commit of the branch head
 * Errors: 500 with git's text.
 */
export async function commitAndPush(
  git: Git,
  options: { clone: string; branch: string; hidden: readonly string[]; signal?: AbortSignal },
): Promise<string> {
  const { clone, signal } = options
  const run = async (args: string[]) => {
    const output = await git.local(args, { cwd: clone, signal })
    return mustSucceed(git, clone, output).trim()
  }
  await run(['add', '--all', '--', '.', ...options.hidden])
  const staged = await git.local(['diff', '--cached', '--quiet', '--no-ext-diff'], { cwd: clone, signal })
  if (staged.code !== 0) {
    await run(['commit', '--quiet', '--no-verify', `--message=${COMMIT_MESSAGE}`])
    await push(git, options)
  }
  return run(['rev-parse', '--verify', 'HEAD'])
}

const TIMEOUT_MS = 300_000

/**
 * Pushes HEAD to the session branch and makes that the upstream.
 * @param options.lease the commit at which the remote branch must be, empty when the branch must not exist; with it
 * the branch may also be moved back. Without it only a fast-forward is accepted.
 * Errors: 500 with git's text, without addresses and secrets.
 */
async function push(
  git: Git,
  options: { clone: string; branch: string; lease?: string; signal?: AbortSignal },
): Promise<void> {
  const { clone, branch, lease, signal } = options
  const reference = `refs/heads/${branch}`
  const leases = lease === undefined ? [] : [`--force-with-lease=${reference}:${lease}`]
  const args = ['push', '--quiet', '--set-upstream', ...leases, 'origin', `HEAD:${reference}`]
  const output = await git.network(args, { cwd: clone, timeoutMs: TIMEOUT_MS, signal })
  mustSucceed(git, clone, output)
}

/**
 * Makes the files of the work tree what they are in a commit of this clone. Files that were added later are removed,
 * ignored files stay. The branch is not moved, so the next commit undoes what came after that commit.
 * Errors: 500 with git's text.
 */
export async function restoreFiles(checkout: Checkout, commit: string, signal?: AbortSignal): Promise<void> {
  const { git, clone, paths } = checkout
  const files = ['--', '.', ...hiddenPaths(paths)]
  const run = async (args: string[]) => {
    const output = await git.local(args, { cwd: clone, signal })
    mustSucceed(git, clone, output)
  }
  await run(['add', '--all', ...files])
  await run(['restore', `--source=${commit}`, '--staged', '--worktree', ...files])
}

/** Reads the commit id of the branch head. */
export async function readHead(checkout: Checkout, signal?: AbortSignal): Promise<string> {
  const { git, clone } = checkout
  const output = await git.local(['rev-parse', '--verify', 'HEAD'], { cwd: clone, signal })
  return mustSucceed(git, clone, output).trim()
}

/** Fingerprint of the work tree: SHA-256, in hexadecimal digits, of git's status with branch and untracked files. */
export async function computeRevision(checkout: Checkout, signal?: AbortSignal): Promise<string> {
  const { git, clone } = checkout
  const output = await git.local(['status', '--porcelain=v2', '--branch', '--untracked-files=all'], {
    cwd: clone,
    signal,
  })
  mustSucceed(git, clone, output)
  return createHash('sha256').update(output.stdout).digest('hex')
}
