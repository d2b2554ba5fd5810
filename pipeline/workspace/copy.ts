import { randomUUID } from 'node:crypto'
import { mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal } from '../../src/base/errors.ts'
import { lastLoadedName } from '../../src/plan/code/variable-files.ts'
import { assertNoForeignBackend } from './backend-override.ts'
import { writeMarker } from './clone.ts'
import { excludeNeverPushed, hiddenNames } from './files/engine-files.ts'
import { isShared, removeRightInside, shareTree, writePrivateFile } from './files/private-files.ts'
import { createLocalGit } from './git/git.ts'
import type { Workspace } from './workspace.ts'

/** A second working copy with an empty state of its own. */
export interface WorkspaceCopy {
  /** Absolute, real path of the engine root in the copy. */
  readonly iacRoot: string
  /** Does the work while the engine reads a value file after all others of the root. */
  withValues<T>(file: { path: string; text: string }, work: () => Promise<T>): Promise<T>
  remove(): Promise<void>
}

type Original = Pick<Workspace, 'clone' | 'gitDirectory' | 'iacRoot'>

/** Separates the engine in a copy from the state of the session and of the repository. */
const LOCAL_STATE = 'terraform {\n  backend "local" {}\n}\n'

/**
 * Writes the files of a commit to a folder next to the clone. They come from git, because an engine may use the working
 * copy. The next run of the session removes leftovers of a crash. Errors: 500 when git fails, and for an override file
 * of the repository that sets a state backend.
 */
export async function copyCommit(
  config: Config,
  original: Original,
  commit: string,
  signal: AbortSignal,
): Promise<WorkspaceCopy> {
  const clone = await realpath(original.clone)
  const copy = join(dirname(clone), randomUUID())
  const iacRoot = join(copy, relative(clone, original.iacRoot))
  const remove = () => rm(copy, { recursive: true, force: true })
  try {
    await mkdir(copy)
    const git = createLocalGit(config.git, { directory: original.gitDirectory, workTree: copy }, signal)
    // Without `--staged` the index stays that of the clone.
    const args = ['restore', `--source=${commit}`, '--worktree', '--', '.', ...excludeNeverPushed(config.paths)]
    const output = await git(args)
    if (output.code !== 0) throw internal('The files of the branch could not be written into a second folder.')
    await writeMarker(copy)
    await assertNoForeignBackend(iacRoot, config.paths.backend_override_filename)
    const shared = await isShared(config.paths.upload_folder)
    if (shared) await shareTree(copy, (name) => hiddenNames(config.paths).includes(name))
    await writePrivateFile(join(iacRoot, config.paths.backend_override_filename), LOCAL_STATE, { shared })
    return { iacRoot: await realpath(iacRoot), withValues: createValues(iacRoot, shared), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

const createValues =
  (iacRoot: string, shared: boolean): WorkspaceCopy['withValues'] =>
  async ({ path, text }, work) => {
    const name = lastLoadedName(path, await readdir(iacRoot))
    await writePrivateFile(join(iacRoot, name), text, { shared })
    try {
      return await work()
    } finally {
      await removeRightInside(iacRoot, name)
    }
  }

/** Returns the commit at which the session branch left the default branch; null when this clone does not have it. */
export async function findBaseCommit(
  config: Config,
  { clone, gitDirectory, defaultBranch }: Pick<Workspace, 'clone' | 'gitDirectory' | 'defaultBranch'>,
  signal: AbortSignal,
): Promise<string | null> {
  const git = createLocalGit(config.git, { directory: gitDirectory, workTree: clone }, signal)
  const output = await git(['merge-base', `refs/remotes/origin/${defaultBranch}`, 'HEAD'])
  return output.code === 0 ? output.stdout.trim() : null
}
