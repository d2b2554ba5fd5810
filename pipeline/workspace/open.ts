import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal } from '../../src/base/errors.ts'
import { allInOrder } from '../../src/base/gate.ts'
import type { Logger } from '../../src/base/log.ts'
import type { HostResolver } from '../../src/repository/remote.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { resolveHost } from '../../src/runtime/fetch.ts'
import {
  commitAndPush,
  computeRevision,
  fetchCommit,
  readHead,
  restoreFiles,
  stageChanges,
  startBranch,
} from './branch.ts'
import { checkOutFiles } from './checkout.ts'
import { fetchRepository, writeMarker, writeRules } from './clone.ts'
import { findMergeBase, listChangedFiles, readPendingChanges, readRunChanges } from './diff.ts'
import { isNeverPushed } from './files/engine-files.ts'
import { createGit, type LocalGit } from './git/git.ts'
import { type GitPlace, preparePlace, removeGitDirectory, removeGitLeftovers } from './git/place.ts'
import { rememberReadings } from './git/remembered.ts'
import { keepDirectory, removeLeftovers } from './saved-plans/plan-directory.ts'
import { readTree } from './tree.ts'
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
 * Clones the session's repository for one run, checks out what the engine root uses of the session branch, and begins
 * to push that: `opened` says when it exists on the remote, and `complete` brings the other files. A preview pushes
 * nothing, and neither commits nor saves a plan. Leftovers of earlier runs of the session are removed, except the plan
 * directory; on failure also the new clone. Errors: 500 `git clone failed`, 400 `iac_path '…' is not a
 * directory inside the repository`, 400 for a host that is not public, 422 for a repository over the limits of `git`,
 * 500 with git's text otherwise.
 */
export async function beginWorkspace(config: Config, round: ClaimedRound, options: OpenOptions): Promise<Workspace> {
  const session = resolve(config.paths.upload_folder, round.session.uuid)
  const directory = join(session, randomUUID())
  await removeLeftovers(session)
  await removeGitLeftovers(config.paths, round.session.uuid)
  const place = await preparePlace(config.paths, directory)
  const disposal = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, disposal.signal]) : disposal.signal
  try {
    const checkout = await checkOut(config, round, place, { ...options, signal })
    const workspace = createWorkspace(checkout, () => disposal.abort())
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

async function checkOut(
  config: Config,
  round: ClaimedRound,
  place: GitPlace,
  options: OpenOptions,
): Promise<Checkout & Pick<Workspace, 'complete'>> {
  const { log, signal, resolver = resolveHost } = options
  const { uri, branch, root_path } = round.session.workspace
  const isIrrelevant = (name: string) => isNeverPushed(config.paths, name)
  const wrap = (plain: LocalGit) => rememberReadings(plain, place, isIrrelevant)
  const git = createGit(config.git, uri, place, { resolver, signal, wrap })
  const { branch: defaultBranch, commit: defaultCommit } = await fetchRepository(git, config.paths, log)
  await writeRules(git, config.paths, log)
  const start = await startBranch(git, { branch, defaultBranch, defaultCommit, round, log })
  const tree = await readTree(git, start.commit)
  const opened = start.publish()
  opened.catch(() => {})
  const prepare = async () => {
    const files = await checkOutFiles(git, tree, { iacPath: root_path, log })
    await writeMarker(place.workTree)
    return files
  }
  // What the host says comes first, and no push may work in the folders while they are removed.
  const { iacRoot, notes, complete } = await prepare().catch(async (error: unknown) => {
    await opened
    throw error
  })
  return {
    opened,
    isNew: branch !== defaultBranch && start.commit === defaultCommit,
    git,
    iacRoot,
    branch,
    defaultBranch,
    base: start.commit,
    head: start.commit,
    notes: [...start.notes, ...notes],
    complete,
    paths: config.paths,
  }
}

/** @param stop ends the commands that still work in the clone */
function createWorkspace(checkout: Checkout & Pick<Workspace, 'complete'>, stop: () => void): Workspace {
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
  let completing: Promise<void> | null = null
  const complete = (): Promise<void> => {
    completing ??= checkout.complete()
    // It may fail before anybody waits for it.
    completing.catch(() => {})
    return completing
  }
  return {
    clone,
    gitDirectory,
    localGit: git.local,
    iacRoot,
    branch,
    defaultBranch,
    notes,
    complete,
    opened: checkout.opened,
    commitAndPush: async (onCommitted, ready) => {
      await allInOrder([checkout.opened ?? Promise.resolve(), complete()])
      return await commitAndPush(checkout, onCommitted, ready)
    },
    head: async () => keptHead ?? (await readHead(checkout)),
    restore: async (commit) => {
      await complete()
      await restoreFiles(checkout, commit)
    },
    pendingChanges: async () => {
      await complete()
      return await readPendingChanges(checkout)
    },
    runChanges: async () => {
      await complete()
      await stageChanges(checkout)
      return await readRunChanges(checkout)
    },
    changedFiles: (since) => listChangedFiles(checkout, since),
    versions: async (since) => {
      await complete()
      const from = since === 'commit' ? 'HEAD' : since === 'run' ? checkout.base : await findBase()
      return await readChangedVersions(checkout, from)
    },
    branchDiff: async () => {
      await complete()
      return await readBranchDiff(checkout, await findBase())
    },
    baseCommit: findBase,
    provide: async (commit) => {
      await findBase().catch(() => {})
      await fetchCommit(git, commit, branch)
    },
    revision: async () => {
      await complete()
      return await computeRevision(checkout)
    },
    keep: async () => {
      await complete()
      const commit = await readHead(checkout)
      await keepDirectory(clone)
      keptHead = commit
      await removeGitDirectory(git.place)
    },
    dispose: async () => {
      if (keptHead !== null) return
      await checkout.opened?.catch(() => {})
      stop()
      await completing?.catch(() => {})
      await removeGitDirectory(git.place)
      await rm(clone, { recursive: true, force: true })
    },
  }
}
