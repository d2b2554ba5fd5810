import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import type { HostResolver } from '../../src/repository/remote.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { resolveHost } from '../../src/runtime/fetch.ts'
import {
  checkOutBranch,
  commitAndPush,
  computeRevision,
  fetchCommit,
  readHead,
  restoreFiles,
  stageChanges,
} from './branch.ts'
import { fetchRepository, removeUnsafeEntries, writeMarker, writeRules } from './clone.ts'
import { findMergeBase, listChangedFiles, readPendingChanges, readRunChanges } from './diff.ts'
import { isNeverPushed } from './files/engine-files.ts'
import { createGit, type LocalGit } from './git/git.ts'
import { type GitPlace, preparePlace, removeGitDirectory, removeGitLeftovers } from './git/place.ts'
import { rememberReadings } from './git/remembered.ts'
import { keepDirectory, removeLeftovers } from './saved-plans/plan-directory.ts'
import { readBranchDiff, readChangedVersions } from './versions.ts'
import type { Checkout, Workspace } from './workspace.ts'

interface OpenOptions {
  log: Logger
  signal?: AbortSignal
  /** The default is the operating system's resolver. */
  resolver?: HostResolver
}

/** Does what `beginWorkspace` does, and waits until the host has the branch. Errors: those of the push too. */
export async function openWorkspace(config: Config, round: ClaimedRound, options: OpenOptions): Promise<Workspace> {
  const workspace = await beginWorkspace(config, round, options)
  try {
    await workspace.opened
    return workspace
  } catch (error) {
    await workspace.dispose()
    throw error
  }
}

/**
 * Clones the session's repository for one run, checks out the session branch, and begins to push it: `opened` says when
 * it exists on the remote. A preview pushes nothing, and neither commits nor saves a plan. Leftovers of earlier runs of
 * the session are removed, except the plan directory; on failure also the new clone. Errors: 500 `git clone failed`, 400 `iac_path '…' is not a
 * directory inside the repository`, 400 for a host that is not public, 422 for a repository over the limits of `git`,
 * 500 with git's text otherwise.
 */
export async function beginWorkspace(config: Config, round: ClaimedRound, options: OpenOptions): Promise<Workspace> {
  const session = resolve(config.paths.upload_folder, round.session.uuid)
  const directory = join(session, randomUUID())
  await removeLeftovers(session)
  await removeGitLeftovers(config.paths, round.session.uuid)
  const place = await preparePlace(config.paths, directory)
  try {
    const workspace = createWorkspace(await checkOut(config, round, place, options))
    return round.preview ? { ...workspace, commitAndPush: refuseToWrite, keep: refuseToWrite } : workspace
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    await removeGitDirectory(place)
    throw error
  }
}

async function refuseToWrite(): Promise<never> {
  throw internal('A preview changes neither the repository nor what is pinned.')
}

async function checkOut(config: Config, round: ClaimedRound, place: GitPlace, options: OpenOptions): Promise<Checkout> {
  const { log, signal, resolver = resolveHost } = options
  const { uri, branch, root_path } = round.session.workspace
  const isIrrelevant = (name: string) => isNeverPushed(config.paths, name)
  const wrap = (plain: LocalGit) => rememberReadings(plain, place, isIrrelevant)
  const git = createGit(config.git, uri, place, { resolver, signal, wrap })
  const { branch: defaultBranch, commit: defaultCommit } = await fetchRepository(git, config.paths, log)
  await writeRules(git, config.paths, log)
  const {
    base,
    notes: told,
    pushed: opened,
  } = await checkOutBranch(git, {
    ...{ branch, defaultBranch, defaultCommit },
    ...{ round, log },
  })
  const prepare = async () => {
    const entries = await removeUnsafeEntries(git, root_path, log)
    await writeMarker(place.workTree)
    return entries
  }
  // What the host says comes first, and no push may work in the folders while they are removed.
  const { iacRoot, notes } = await prepare().catch(async (error: unknown) => {
    await opened
    throw error
  })
  return {
    opened,
    isNew: branch !== defaultBranch && base === defaultCommit,
    git,
    iacRoot,
    branch,
    defaultBranch,
    base,
    head: base,
    notes: [...told, ...notes],
    paths: config.paths,
  }
}

function createWorkspace(checkout: Checkout): Workspace {
  const { iacRoot, branch, defaultBranch, notes, git } = checkout
  const { directory: gitDirectory, workTree: clone } = git.place
  // Keeping moves the directory away, so its last commit is stored for later calls of `head`.
  let keptHead: string | null = null
  // The branch only grows during a run, so the merge base stays the same. One that begins at the default branch has its
  // first commit there.
  let base: Promise<string> | null = checkout.isNew ? Promise.resolve(checkout.base) : null
  // Concurrent callers share one search, because git does not fetch into a clone twice at once.
  const findBase = (): Promise<string> => {
    base ??= findMergeBase(checkout).catch((error: unknown) => {
      base = null
      throw error
    })
    return base
  }
  return {
    clone,
    gitDirectory,
    localGit: git.local,
    iacRoot,
    branch,
    defaultBranch,
    notes,
    opened: checkout.opened,
    commitAndPush: async (onCommitted, ready) => {
      await checkout.opened
      return await commitAndPush(checkout, onCommitted, ready)
    },
    head: async () => keptHead ?? (await readHead(checkout)),
    restore: (commit) => restoreFiles(checkout, commit),
    pendingChanges: () => readPendingChanges(checkout),
    runChanges: async () => {
      await stageChanges(checkout)
      return await readRunChanges(checkout)
    },
    changedFiles: (since) => listChangedFiles(checkout, since),
    versions: async (since) =>
      readChangedVersions(checkout, since === 'commit' ? 'HEAD' : since === 'run' ? checkout.base : await findBase()),
    branchDiff: async () => readBranchDiff(checkout, await findBase()),
    baseCommit: findBase,
    provide: async (commit) => {
      await findBase().catch(() => {})
      await fetchCommit(git, commit, branch)
    },
    revision: () => computeRevision(checkout),
    keep: async () => {
      const commit = await readHead(checkout)
      await keepDirectory(clone)
      keptHead = commit
      await removeGitDirectory(git.place)
    },
    dispose: async () => {
      if (keptHead !== null) return
      await checkout.opened?.catch(() => {})
      await removeGitDirectory(git.place)
      await rm(clone, { recursive: true, force: true })
    },
  }
}
