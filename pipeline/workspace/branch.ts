import { createHash } from 'node:crypto'
import { badGateway, internal, type PlatformError, REPOSITORY_UNREACHABLE } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { excludeNeverPushed, isNeverPushed } from './files/engine-files.ts'
import { type CloneLimits, type Git, MIB, measure, mustSucceed, repositoryTooLarge, tooManyFiles } from './git/git.ts'
import type { Checkout } from './workspace.ts'

const ASK_TIMEOUT_MS = 20_000
const CHECKOUT_TIMEOUT_MS = 300_000
const FETCH_TIMEOUT_MS = 300_000

interface BranchOptions {
  branch: string
  defaultBranch: string
  round: ClaimedRound
  log: Logger
  signal?: AbortSignal
}

/**
 * Checks out the session branch and makes sure that the remote has it. After an interrupted or cancelled round, starts
 * from the commit at the end of the last round that counts. For a preview nothing is pushed: a missing branch starts at
 * the default branch, in the clone only. Errors: 502 when the remote cannot be reached, 500 with git's text when the
 * branch cannot be moved, 422 for a repository over the limits.
 * @returns the commit that is checked out
 */
export async function checkOutBranch(git: Git, options: BranchOptions): Promise<string> {
  const { branch, defaultBranch, round, signal } = options
  if (branch === defaultBranch) return await checkOut(git, options, 'HEAD', ['reset', '--quiet', '--hard'])
  const isNew = round.number === 1 && round.attempt === 1 && round.base_commit === null
  const tip = isNew ? null : await fetchBranch(git, options)
  const target = tip === null ? null : await findStart(git, options, tip)
  const start = target ?? `refs/remotes/origin/${defaultBranch}`
  const commit = await checkOut(git, options, start, ['checkout', '--quiet', '-B', branch, start])
  // The lease names the commit read from the remote, so that a branch pushed meanwhile is never overwritten.
  if (!round.preview && (target === null || target !== tip)) await push(git, { branch, signal, lease: tip ?? '' })
  return commit
}

/** Checks out a commit whose files fit the limits, and returns its id. */
async function checkOut(git: Git, options: BranchOptions, commit: string, args: string[]): Promise<string> {
  const id = await parseRevision(git, options, `${commit}^{commit}`)
  await assertTreeFits(git, id, options.signal)
  await git.run(args, { timeoutMs: CHECKOUT_TIMEOUT_MS, signal: options.signal })
  return id
}

/** Fetches the session branch and returns its commit; null when the remote has no such branch. */
async function fetchBranch(git: Git, options: BranchOptions): Promise<string | null> {
  const { branch, signal, log } = options
  const reference = `refs/remotes/origin/${branch}`
  const args = ['fetch', '--quiet', '--depth=1', '--no-tags', 'origin', `+refs/heads/${branch}:${reference}`]
  const output = await git.network(args, { cwd: git.place.workTree, timeoutMs: FETCH_TIMEOUT_MS, signal })
  if (output.code === 0) return await parseRevision(git, options, reference)
  if (output.stderr.includes("couldn't find remote ref")) return null
  log.warn('session branch could not be fetched', { reason: output.stopped ?? output.stderr })
  throw badGateway(REPOSITORY_UNREACHABLE)
}

/** Returns the start of the round: the tip, or the last good commit after an interruption or cancellation. */
async function findStart(git: Git, options: BranchOptions, tip: string): Promise<string | null> {
  const { round, signal } = options
  const isAbandoned = round.abandoned_commits?.includes(tip) ?? false
  if ((round.attempt === 1 && !isAbandoned) || round.base_commit === tip) return tip
  const base = round.base_commit
  if (base === null) return null
  const output = await git.network(['fetch', '--quiet', '--depth=1', '--no-tags', 'origin', base], {
    cwd: git.place.workTree,
    timeoutMs: FETCH_TIMEOUT_MS,
    signal,
  })
  // Some servers do not serve a single commit by id. It is an ancestor of the tip, so the whole branch has it.
  if (output.code !== 0) await unshallow(git, options)
  return await parseRevision(git, options, `${base}^{commit}`)
}

async function unshallow(git: Git, options: BranchOptions): Promise<void> {
  const { branch, signal } = options
  const args = ['fetch', '--quiet', '--unshallow', '--no-tags', 'origin', `refs/heads/${branch}`]
  const output = await git.network(args, { cwd: git.place.workTree, timeoutMs: FETCH_TIMEOUT_MS, signal })
  if (output.code !== 0) throw badGateway(REPOSITORY_UNREACHABLE)
}

/** Returns the commit id of a revision. */
const parseRevision = async (git: Git, { signal }: BranchOptions, revision: string): Promise<string> =>
  (await git.run(['rev-parse', '--verify', revision], { timeoutMs: ASK_TIMEOUT_MS, signal })).trim()

/** Throws 422 `RepositoryTooLarge` when the files of a commit exceed the limits; 500 with git's text. */
async function assertTreeFits(git: Git, commit: string, signal?: AbortSignal): Promise<void> {
  const { place, limits } = git
  const { bytes } = await measure(place.directory)
  const tree = createTreeMeter(limits, bytes)
  const output = await git.local(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit], {
    cwd: place.workTree,
    consume: tree.take,
    signal,
  })
  const refusal = tree.refusal()
  if (refusal !== null) throw refusal
  mustSucceed(git, output)
}

/** Counts the files and folders in the streamed output of `ls-tree -r -t -l -z`. */
function createTreeMeter(limits: CloneLimits, start: number) {
  let bytes = start
  let entries = 0
  let rest = Buffer.alloc(0)
  const refusal = (): PlatformError | null => {
    if (bytes > limits.max_clone_mib * MIB) return repositoryTooLarge(limits)
    return entries > limits.max_clone_files ? tooManyFiles(limits) : null
  }
  const count = (line: string) => {
    // The size is the fourth word, and a hyphen for a folder.
    const size = Number(line.slice(0, line.indexOf('\t')).split(/\s+/)[3])
    if (Number.isFinite(size)) bytes += size
    entries++
  }
  return {
    refusal,
    /** Returns false when a limit is exceeded, so that git is stopped. */
    take: (chunk: Buffer): boolean => {
      const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let from = 0
      for (let end = all.indexOf(0); end >= 0; end = all.indexOf(0, from)) {
        count(all.toString('utf8', from, end))
        from = end + 1
      }
      rest = Buffer.from(all.subarray(from))
      return refusal() === null
    },
  }
}

const COMMIT_MESSAGE = 'Platform changes'

/** Commits and pushes all pushable changes; returns the head. Errors: 500 with git's text or a forbidden path. */
export async function commitAndPush(checkout: Checkout, signal?: AbortSignal): Promise<string> {
  const { git, branch } = checkout
  await stageChanges(checkout, signal)
  const check = ['diff', '--cached', '--quiet', '--no-ext-diff']
  const staged = await git.local(check, { cwd: git.place.workTree, signal })
  if (staged.code !== 0) {
    await git.run(['commit', '--quiet', '--no-verify', `--message=${COMMIT_MESSAGE}`], { signal })
    await assertPushable(checkout, signal)
    await push(git, { branch, signal })
  }
  return await readHead(checkout, signal)
}

/** Maximum bytes of the list of changed files. */
const MAX_LISTING = 256 * 1024 * 1024

/** Stages changes one by one, because `git add` would run git in a repository placed below the clone. */
async function stageChanges({ git, paths }: Checkout, signal?: AbortSignal): Promise<void> {
  const what = ['--modified', '--deleted', '--others', '--exclude-standard', '-z']
  const args = ['ls-files', ...what, '--', '.', ...excludeNeverPushed(paths)]
  const listed = await git.run(args, { maxOutput: MAX_LISTING, signal })
  const changed = [...new Set(listed.split('\0'))].filter((path) => path !== '' && !isNeverPushed(paths, path))
  if (changed.length === 0) return
  // Git lists the folder in place of its files, which would be missing from the reviewed change.
  const repository = changed.find((path) => path.endsWith('/'))
  if (repository !== undefined)
    throw internal(`The folder '${repository}' became a git repository during the round, so it cannot be committed.`)
  const input = `${changed.join('\0')}\0`
  await git.run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input, signal })
}

const SUBMODULE = '160000'

/** Throws 500 for a changed path that is never pushed, or a changed submodule. */
async function assertPushable({ git, paths, base }: Checkout, signal?: AbortSignal): Promise<void> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--ignore-submodules=none', base, 'HEAD']
  const parts = (await git.run(args, { maxOutput: MAX_LISTING, signal })).split('\0').filter(Boolean)
  // Each difference is two parts: `:<old mode> <new mode> <old id> <new id> <kind>`, then the path.
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [facts = '', path = ''] = parts.slice(index, index + 2)
    if (isNeverPushed(paths, path) || facts.includes(SUBMODULE))
      throw internal(`The change of '${path}' must never be pushed, so nothing of this attempt was.`)
  }
}

const TIMEOUT_MS = 300_000

/**
 * Pushes HEAD to the session branch and sets that as upstream. Errors: 500 with git's text, without addresses and
 * secrets.
 * @param options.lease expected commit of the remote branch, empty for none; allows moving the branch back. Without it
 * only a fast-forward is accepted.
 */
async function push(git: Git, options: { branch: string; lease?: string; signal?: AbortSignal }): Promise<void> {
  const { branch, lease, signal } = options
  const reference = `refs/heads/${branch}`
  const leases = lease === undefined ? [] : [`--force-with-lease=${reference}:${lease}`]
  const args = ['push', '--quiet', '--set-upstream', ...leases, 'origin', `HEAD:${reference}`]
  mustSucceed(git, await git.network(args, { cwd: git.place.workTree, timeoutMs: TIMEOUT_MS, signal }))
}

/** Restores all but ignored files to a commit, without moving the branch. Errors: 500 with git's text. */
export async function restoreFiles(checkout: Checkout, commit: string, signal?: AbortSignal): Promise<void> {
  const { git, paths } = checkout
  await stageChanges(checkout, signal)
  const args = ['restore', `--source=${commit}`, '--staged', '--worktree', '--', '.', ...excludeNeverPushed(paths)]
  await git.run(args, { signal })
}

/** Reads the commit id of the branch head. */
export const readHead = async ({ git }: Checkout, signal?: AbortSignal): Promise<string> =>
  (await git.run(['rev-parse', '--verify', 'HEAD'], { signal })).trim()

/** Returns a fingerprint of the work tree: hexadecimal SHA-256 of git's status with branch and untracked files. */
export async function computeRevision({ git, paths }: Checkout, signal?: AbortSignal): Promise<string> {
  const args = ['status', '--porcelain=v2', '--branch', '--untracked-files=all', '--ignore-submodules=all']
  const status = await git.run([...args, '--', '.', ...excludeNeverPushed(paths)], { signal })
  return createHash('sha256').update(status).digest('hex')
}
