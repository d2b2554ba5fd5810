import { badGateway, type PlatformError, REPOSITORY_UNREACHABLE } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { push } from './commit.ts'
import { type Git, mustSucceed } from './git/git.ts'
import { type CloneLimits, MIB, measure, repositoryTooLarge, tooManyFiles } from './git/limits.ts'

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
