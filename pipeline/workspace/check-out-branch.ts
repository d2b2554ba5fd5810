import { badGateway, internal, REPOSITORY_UNREACHABLE } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { ClaimedRound } from '../../src/sessions/types.ts'
import { type Git, gitText } from './git.ts'
import { push } from './push.ts'

const ASK_TIMEOUT_MS = 20_000
const FETCH_TIMEOUT_MS = 300_000

export interface BranchOptions {
  clone: string
  branch: string
  default_branch: string
  round: ClaimedRound
  log: Logger
  signal?: AbortSignal
}

/**
 * Puts the clone on the session branch, and the branch on the remote. A round that was interrupted
 * starts again from the commit the previous round ended with.
 * Errors: 502 when the remote cannot be asked, 500 with git's text when the branch cannot be moved.
 */
export async function checkOutBranch(git: Git, options: BranchOptions): Promise<void> {
  const { branch, default_branch, round } = options
  if (branch === default_branch) return
  const is_new = round.number === 1 && round.attempt === 1 && round.base_commit === null
  const tip = is_new ? null : await fetchBranch(git, options)
  const target = tip === null ? null : await startOf(git, options, tip)
  await local(git, options, ['checkout', '--quiet', '-B', branch, target ?? `refs/remotes/origin/${default_branch}`])
  // An unexpected branch of that name on the remote is never overwritten: the lease names what we saw.
  if (target === null || target !== tip) await push(git, { ...options, lease: tip ?? '' })
}

/** Fetches the session branch and answers its commit; null when the remote has no such branch. */
async function fetchBranch(git: Git, options: BranchOptions): Promise<string | null> {
  const { clone, branch, signal, log } = options
  const reference = `refs/remotes/origin/${branch}`
  const args = ['fetch', '--quiet', '--depth=1', '--no-tags', 'origin', `+refs/heads/${branch}:${reference}`]
  const output = await git.network(args, { cwd: clone, timeout_ms: FETCH_TIMEOUT_MS, signal })
  if (output.code === 0) return (await local(git, options, ['rev-parse', '--verify', reference])).trim()
  if (output.stderr.includes("couldn't find remote ref")) return null
  log.warn('session branch could not be fetched', { reason: output.stopped ?? output.stderr })
  throw badGateway(REPOSITORY_UNREACHABLE)
}

/** Where the round begins: the tip, or after an interruption what the previous round left. */
async function startOf(git: Git, options: BranchOptions, tip: string): Promise<string | null> {
  const { round, clone, signal } = options
  if (round.attempt === 1 || round.base_commit === tip) return tip
  const base = round.base_commit
  if (base === null) return null
  const fetched = await git.network(['fetch', '--quiet', '--depth=1', '--no-tags', 'origin', base], {
    cwd: clone,
    timeout_ms: FETCH_TIMEOUT_MS,
    signal,
  })
  // A server that serves no single commits: the commit is an ancestor of the tip.
  if (fetched.code !== 0) await unshallow(git, options)
  return (await local(git, options, ['rev-parse', '--verify', `${base}^{commit}`])).trim()
}

async function unshallow(git: Git, options: BranchOptions): Promise<void> {
  const { clone, branch, signal } = options
  const args = ['fetch', '--quiet', '--unshallow', '--no-tags', 'origin', `refs/heads/${branch}`]
  const output = await git.network(args, { cwd: clone, timeout_ms: FETCH_TIMEOUT_MS, signal })
  if (output.code !== 0) throw badGateway(REPOSITORY_UNREACHABLE)
}

async function local(git: Git, options: BranchOptions, args: string[]): Promise<string> {
  const output = await git.local(args, { cwd: options.clone, timeout_ms: ASK_TIMEOUT_MS, signal: options.signal })
  if (output.code !== 0) throw internal(gitText(output, { clone: options.clone, url: git.url }))
  return output.stdout
}
