import { createHash } from 'node:crypto'
import { badGateway, internal, REPOSITORY_UNREACHABLE } from '../../src/base/errors.ts'
import { allInOrder } from '../../src/base/gate.ts'
import type { Logger } from '../../src/base/log.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { listChanges } from './change-budget.ts'
import { excludeNeverPushed, isNeverPushed } from './files/engine-files.ts'
import { type Git, MAX_LISTING, mustSucceed, SUBMODULE } from './git/git.ts'
import type { Checkout } from './workspace.ts'

const ASK_TIMEOUT_MS = 20_000

interface BranchOptions {
  branch: string
  defaultBranch: string
  /** The commit of the default branch. */
  defaultCommit: string
  round: ClaimedRound
  log: Logger
}

/** The commit at which a round begins. */
export interface Start {
  commit: string
  /** Notes for the result of the round. */
  notes: string[]
  /**
   * Makes sure that the remote has the session branch at this commit, and may be written at all. It works in git's
   * directory until it ends. Errors: 500 with git's text.
   */
  publish(): Promise<void>
}

/**
 * Finds the commit at which the round begins, and makes it the head of the session branch in the clone. After an
 * interrupted or cancelled round, that is the commit at the end of the last round that counts. For a preview nothing is
 * pushed: a missing branch starts at the default branch, in the clone only. Errors: 502 when the remote cannot be
 * reached, 500 with git's text when the branch cannot be moved.
 */
export async function startBranch(git: Git, options: BranchOptions): Promise<Start> {
  const { branch, defaultBranch, defaultCommit, round } = options
  const nothing = async () => {}
  if (branch === defaultBranch) return { commit: defaultCommit, notes: [], publish: nothing }
  const isNew = round.number === 1 && round.attempt === 1 && round.base_commit === null
  const tip = isNew ? null : await fetchBranch(git, options)
  const target = tip === null ? null : await findStart(git, options, tip)
  const commit = target ?? defaultCommit
  await git.run(['branch', '--quiet', '--force', '--no-track', '--', branch, commit])
  await git.run(['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  const notes = tip === null && round.base_commit !== null ? [branchDeleted(branch, round.base_commit)] : []
  if (round.preview) return { commit, notes, publish: nothing }
  // The lease names the commit read from the remote, so that a branch pushed meanwhile is never overwritten.
  if (target === null || target !== tip)
    return { commit, notes, publish: () => push(git, { branch, lease: tip ?? '' }) }
  // A repository that was archived since the last round is told before the work, not after it.
  return { commit, notes, publish: () => push(git, { branch, onlyAsks: true }) }
}

const branchDeleted = (branch: string, commit: string): string =>
  `The branch '${branch}' of the session is no longer at the git host, so this round began at the default branch, ` +
  `without changes of earlier rounds that were not merged; the last of them is commit ${commit}.`

/** Fetches the session branch and returns its commit; null when the remote has no such branch. */
async function fetchBranch(git: Git, { branch, log }: BranchOptions): Promise<string | null> {
  const reference = `refs/remotes/origin/${branch}`
  const output = await git.network([...FETCH, '--depth=1', 'origin', `+refs/heads/${branch}:${reference}`])
  if (output.code === 0) return await parseRevision(git, reference)
  if (output.stderr.includes("couldn't find remote ref")) return null
  log.warn('session branch could not be fetched', { reason: output.stopped ?? output.stderr })
  throw badGateway(REPOSITORY_UNREACHABLE)
}

/** Returns the start of the round: the tip, or the last good commit after an interruption or cancellation. */
async function findStart(git: Git, { round, branch }: BranchOptions, tip: string): Promise<string | null> {
  const isAbandoned = round.abandoned_commits?.includes(tip) ?? false
  if ((round.attempt === 1 && !isAbandoned) || round.base_commit === tip) return tip
  const base = round.base_commit
  if (base === null) return null
  await fetchCommit(git, base, branch)
  return await parseRevision(git, `${base}^{commit}`)
}

/** Fetches a commit that is an ancestor of the remote branch, unless the clone has it. Errors: 502. */
export async function fetchCommit(git: Git, commit: string, branch: string): Promise<void> {
  const known = await git.local(['cat-file', '-e', `${commit}^{commit}`])
  if (known.code === 0) return
  let output = await git.network([...FETCH, '--depth=1', 'origin', commit])
  // Some servers do not serve a single commit by id. It is an ancestor of the tip, so the whole branch has it.
  if (output.code !== 0) output = await git.network([...FETCH, '--unshallow', 'origin', `refs/heads/${branch}`])
  if (output.code !== 0) throw badGateway(REPOSITORY_UNREACHABLE)
}

const FETCH = ['fetch', '--quiet', '--no-tags']

/** Returns the commit id of a revision. */
const parseRevision = async (git: Git, revision: string): Promise<string> =>
  (await git.run(['rev-parse', '--verify', revision], { timeoutMs: ASK_TIMEOUT_MS })).trim()

const COMMIT_MESSAGE = 'Platform changes'

/** Does what `Workspace.commitAndPush` says. Errors: 500 with git's text or a forbidden path. */
export async function commitAndPush(
  checkout: Checkout,
  onCommitted?: (commit: string) => void,
  ready?: Promise<unknown>,
): Promise<string> {
  const { git, branch } = checkout
  const compare = () => git.local(['diff', '--cached', '--quiet', '--no-ext-diff'])
  // Usually all is staged already, so that the two questions need not wait for each other.
  const [changed, before] = await allInOrder([listChanges(checkout), compare()])
  if (changed.length > 0) await stage(checkout, changed)
  const staged = changed.length > 0 ? await compare() : before
  if (staged.code === 0) return await readHead(checkout)
  checkout.head = null
  await git.run(['commit', '--quiet', '--no-verify', `--message=${COMMIT_MESSAGE}`])
  const [, commit] = await allInOrder([assertPushable(checkout), readHead(checkout)])
  onCommitted?.(commit)
  await ready
  await push(git, { branch })
  return commit
}

/** Stages changes one by one, because `git add` would run git in a repository placed below the clone. */
export async function stageChanges(checkout: Checkout): Promise<void> {
  const changed = await listChanges(checkout)
  if (changed.length > 0) await stage(checkout, changed)
}

async function stage(checkout: Checkout, changed: readonly string[]): Promise<void> {
  // Git lists the folder in place of its files, which would be missing from the reviewed change.
  const repository = changed.find((path) => path.endsWith('/'))
  if (repository !== undefined)
    throw internal(`The folder '${repository}' became a git repository during the round, so it cannot be committed.`)
  const input = `${changed.join('\0')}\0`
  await checkout.git.run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input })
}

/** Throws 500 for a changed path that is never pushed, or a changed submodule. */
async function assertPushable({ git, paths, base }: Checkout): Promise<void> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--ignore-submodules=none', base, 'HEAD']
  const parts = (await git.run(args, { maxOutput: MAX_LISTING })).split('\0').filter(Boolean)
  // Each difference is two parts: `:<old mode> <new mode> <old id> <new id> <kind>`, then the path.
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [facts = '', path = ''] = parts.slice(index, index + 2)
    if (isNeverPushed(paths, path) || facts.includes(SUBMODULE))
      throw internal(`The change of '${path}' must never be pushed, so nothing of this attempt was.`)
  }
}

/**
 * Pushes HEAD to the session branch and sets that as upstream. Errors: 500 with git's text, without addresses and
 * secrets.
 * @param lease expected commit of the remote branch, empty for none; allows moving the branch back. Without it
 * only a fast-forward is accepted.
 * @param onlyAsks true to ask the host without a change
 */
async function push(
  git: Git,
  { branch, lease, onlyAsks = false }: { branch: string; lease?: string; onlyAsks?: boolean },
): Promise<void> {
  const reference = `refs/heads/${branch}`
  const leases = lease === undefined ? [] : [`--force-with-lease=${reference}:${lease}`]
  const kind = onlyAsks ? ['--dry-run'] : ['--set-upstream', ...leases]
  const args = ['push', '--quiet', ...kind, 'origin', `HEAD:${reference}`]
  mustSucceed(git, await git.network(args))
}

/** Restores all but ignored files to a commit, without moving the branch. Errors: 500 with git's text. */
export async function restoreFiles(checkout: Checkout, commit: string): Promise<void> {
  const { git, paths } = checkout
  await stageChanges(checkout)
  const args = ['restore', `--source=${commit}`, '--staged', '--worktree', '--', '.', ...excludeNeverPushed(paths)]
  await git.run(args)
}

/** Returns the commit id of the branch head, which only a commit of this run moves. */
export async function readHead(checkout: Checkout): Promise<string> {
  checkout.head ??= (await checkout.git.run(['rev-parse', '--verify', 'HEAD'])).trim()
  return checkout.head
}

/** Returns a fingerprint of the work tree: hexadecimal SHA-256 of git's status with branch and untracked files. */
export async function computeRevision({ git, paths }: Checkout): Promise<string> {
  const args = ['status', '--porcelain=v2', '--branch', '--untracked-files=all', '--ignore-submodules=all']
  const status = await git.run([...args, '--', '.', ...excludeNeverPushed(paths)])
  return createHash('sha256').update(status).digest('hex')
}
