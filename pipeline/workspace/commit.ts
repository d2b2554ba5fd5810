import { createHash } from 'node:crypto'
import { internal } from '../../src/base/errors.ts'
import { excludeNeverPushed, isNeverPushed } from './files/engine-files.ts'
import { type Git, mustSucceed } from './git/git.ts'
import type { Checkout } from './workspace.ts'

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
export async function push(git: Git, options: { branch: string; lease?: string; signal?: AbortSignal }): Promise<void> {
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
