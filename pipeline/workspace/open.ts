import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/types.ts'
import type { Logger } from '../../src/base/log.ts'
import type { HostResolver } from '../../src/repository/remote.ts'
import { resolveHost } from '../../src/runtime/fetch.ts'
import type { ClaimedRound } from '../../src/sessions/types.ts'
import { checkOutBranch, commitAndPush, head, restore, revision } from './branch.ts'
import { clone, removeUnsafeEntries, writeIgnoreRules } from './clone.ts'
import { branchDiff, changedFiles, mergeBase, pendingChanges } from './diff.ts'
import { locateRoot } from './files/confine.ts'
import { createGit } from './git/git.ts'
import { pinDirectory, removeLeftovers } from './pins/pin.ts'
import { type Checkout, hiddenPaths, type Workspace } from './types.ts'

export interface OpenOptions {
  log: Logger
  signal?: AbortSignal
  /** Default: the operating system's look-up. */
  resolver?: HostResolver
}

/**
 * Clones the session's repository for one run and puts it on the session branch, which then exists on
 * the remote. What earlier runs of the session left on this disk is removed, except the pinned
 * directory. After a failure nothing of this call is left.
 * Errors: 500 `git clone failed`, 400 `iac_path '…' is not a directory inside the repository`, 400 for
 * a host that is not public, 500 with git's text otherwise.
 */
export async function openWorkspace(config: Config, round: ClaimedRound, options: OpenOptions): Promise<Workspace> {
  const session = resolve(config.paths.upload_folder, round.session.uuid)
  const directory = join(session, randomUUID())
  await removeLeftovers(session)
  try {
    return asWorkspace(await checkOut(config, round, directory, options), options.signal)
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

async function checkOut(
  config: Config,
  round: ClaimedRound,
  directory: string,
  options: OpenOptions,
): Promise<Checkout> {
  const { log, signal, resolver = resolveHost } = options
  const { uri, branch, root_path } = round.session.workspace
  const git = createGit(config.git, uri, resolver)
  const defaultBranch = await clone(git, directory, { log, signal })
  await writeIgnoreRules(directory, config.paths, log)
  await checkOutBranch(git, { clone: directory, branch, default_branch: defaultBranch, round, log, signal })
  await removeUnsafeEntries(git, directory, { log, signal })
  const iacRoot = await locateRoot(directory, root_path)
  return { git, clone: directory, iac_root: iacRoot, branch, default_branch: defaultBranch, paths: config.paths, log }
}

function asWorkspace(checkout: Checkout, runSignal?: AbortSignal): Workspace {
  const { clone, iac_root, branch, default_branch, git } = checkout
  // The directory moves away when it is pinned; its last commit is still asked for.
  let pinnedHead: string | null = null
  // The branch only grows during a run, so the commit it left the default branch at stays the same.
  let base: string | null = null
  return {
    clone,
    iac_root,
    branch,
    default_branch,
    commitAndPush: (signal = runSignal) =>
      commitAndPush(git, { clone, branch, hidden: hiddenPaths(checkout.paths), signal }),
    head: async () => pinnedHead ?? (await head(checkout, runSignal)),
    restore: (commit) => restore(checkout, commit, runSignal),
    pendingChanges: () => pendingChanges(checkout, runSignal),
    changedFiles: (since) => changedFiles(checkout, since, runSignal),
    branchDiff: async () => {
      base ??= await mergeBase(checkout, runSignal)
      return branchDiff(checkout, base, runSignal)
    },
    revision: () => revision(checkout, runSignal),
    pin: async () => {
      const commit = await head(checkout, runSignal)
      await pinDirectory(clone)
      pinnedHead = commit
    },
    dispose: async () => {
      if (pinnedHead === null) await rm(clone, { recursive: true, force: true })
    },
  }
}
