import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Config } from '../../config/types.ts'
import { sha256Hex } from '../../src/base/bytes.ts'
import {
  badRequest,
  DEFAULT_BRANCH_EMPTY,
  internal,
  type PlatformError,
  REPOSITORY_EMPTY,
} from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { lastLoadedName } from '../../src/plan/code/variable-files.ts'
import { assertNoForeignBackend } from './backend-override.ts'
import { excludeNeverPushed, hiddenNames, neverPushed, WORKSPACE_MARKER } from './files/engine-files.ts'
import { isShared, removeRightInside, shareTree, writePrivateFile } from './files/private-files.ts'
import { createLocalGit, type Git } from './git/git.ts'
import { keepMirror, takeMirror } from './git/mirror.ts'
import type { Workspace } from './workspace.ts'

/**
 * Fetches the newest commit of the default branch without checkout: what is new since an earlier round fetched the same
 * repository, or all of it. Git directory and work tree must not exist yet, unlike the folders above them. Errors: 500
 * `git clone failed`, with git's text in the log only; 400 for an address that is not public, and for a repository
 * without commits; 422 for one over the limits.
 * @returns the name of the default branch, and its commit
 */
export async function fetchRepository(
  git: Git,
  paths: Config['paths'],
  log: Logger,
): Promise<{ branch: string; commit: string }> {
  const fail = (reason: string): never => {
    throw logCloneFailure(log, reason)
  }
  const taken = await takeMirror(git, paths, { log, fail })
  const branch = taken?.branch ?? (await cloneRepository(git, log))
  const commit = taken?.commit ?? (await git.run(['rev-parse', '--verify', `refs/remotes/origin/${branch}`])).trim()
  await keepMirror(git, paths, { branch, commit, log })
  return { branch, commit }
}

/** Clones the newest commit of the default branch, and returns the name of that. */
async function cloneRepository(git: Git, log: Logger): Promise<string> {
  const { directory } = git.place
  const options = ['--quiet', '--no-checkout', '--depth=1', '--no-tags', '--no-recurse-submodules']
  const output = await git.network(['clone', ...options, '--', git.url, directory], { cwd: dirname(directory) })
  if (output.code !== 0) throw logCloneFailure(log, output.stopped ?? output.stderr)
  // Every call names the work tree, because the directory of a kept clone is moved.
  await git.run(['config', '--unset-all', 'core.worktree'])
  const head = await git.local(['rev-parse', '--symbolic-full-name', '--verify', 'HEAD'])
  const [, branch] = /^refs\/heads\/(.+)$/.exec(head.stdout.trim()) ?? []
  if (head.code === 0 && branch) return branch
  if (head.code === 0) throw logCloneFailure(log, 'the head of the repository is no branch')
  const branches = await git.network(['ls-remote', '--heads', '--', git.url], { cwd: dirname(directory) })
  if (branches.code !== 0) throw logCloneFailure(log, branches.stopped ?? branches.stderr)
  throw badRequest(branches.stdout.trim() === '' ? REPOSITORY_EMPTY : DEFAULT_BRANCH_EMPTY)
}

function logCloneFailure(log: Logger, reason: string): PlatformError {
  log.error('git clone failed', { reason })
  return internal('git clone failed')
}

/** Further files of the engine, and secrets. Variable files and lock files belong to the change and are not listed. */
const IGNORE_RULES = [
  ...['tf', 'tf.json', 'tofu', 'tofu.json'].flatMap((ending) => [`override.${ending}`, `*_override.${ending}`]),
  ...['.terraformrc', 'terraform.rc', '*_key_file.pem', '*.sh', 'plan*.txt'],
]

/**
 * Disables a repository's attributes: no conversion enlarges a file, no attribute hides a change from a diff. Filters
 * stay, which tell of Git LFS: git has no program for any of them.
 */
const ATTRIBUTES = '* -text !eol -ident -working-tree-encoding !diff !merge !whitespace\n'

/** Writes ignore rules and attributes to the git directory, outside of pull requests. Failures are logged. */
export async function writeRules({ place }: Git, paths: Config['paths'], log: Logger): Promise<void> {
  const info = join(place.directory, 'info')
  try {
    await mkdir(info, { recursive: true })
    await appendFile(join(info, 'exclude'), `${[...neverPushed(paths), ...IGNORE_RULES].join('\n')}\n`)
    await writeFile(join(info, 'attributes'), ATTRIBUTES)
  } catch (error) {
    log.warn('ignore rules were not written', { reason: error })
  }
}

/** Marks the root of a clone for the iac sidecar. An existing entry with this name is left unchanged. */
export async function writeMarker(workTree: string): Promise<void> {
  await writeFile(join(workTree, WORKSPACE_MARKER), '', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** A second working copy with an empty state of its own. */
export type WorkspaceCopy = Awaited<ReturnType<typeof copyCommit>>

type Original = Pick<Workspace, 'clone' | 'gitDirectory' | 'iacRoot' | 'complete'>

/** Separates the engine in a copy from the state of the session and of the repository. */
const LOCAL_STATE = 'terraform {\n  backend "local" {}\n}\n'

/**
 * Writes the files of a commit to a folder next to the clone. They come from git, because an engine may use the working
 * copy. The next run of the session removes leftovers of a crash. Errors: 500 when git fails, and for an override file
 * of the repository that sets a state backend.
 * @param options.backend `local` for an empty state of its own; `own` for the backend of the repository, with the state
 * if that is a file of it; `session` when the caller writes the override of the session
 */
export async function copyCommit(
  config: Config,
  original: Original,
  commit: string,
  signal: AbortSignal,
  { backend = 'local' }: { backend?: 'local' | 'own' | 'session' } = {},
) {
  // Both write the index.
  await original.complete()
  const clone = await realpath(original.clone)
  const copy = join(dirname(clone), randomUUID())
  const iacRoot = join(copy, relative(clone, original.iacRoot))
  const remove = () => rm(copy, { recursive: true, force: true })
  try {
    await mkdir(copy)
    const git = createLocalGit(config.git, { directory: original.gitDirectory, workTree: copy }, signal)
    // Without `--staged` the index stays that of the clone.
    const kept = backend === 'own' ? ['*.tfstate', config.paths.backend_override_filename] : []
    const excluded = excludeNeverPushed(config.paths, kept)
    const args = ['restore', `--source=${commit}`, '--worktree', '--', '.', ...excluded]
    const output = await git(args)
    if (output.code !== 0) throw internal('The files of the branch could not be written into a second folder.')
    await writeMarker(copy)
    if (backend === 'local') await assertNoForeignBackend(iacRoot, config.paths.backend_override_filename)
    const shared = await isShared(config.paths.upload_folder)
    if (shared) await shareTree(copy, (name) => hiddenNames(config.paths).includes(name))
    if (backend === 'local')
      await writePrivateFile(join(iacRoot, config.paths.backend_override_filename), LOCAL_STATE, { shared })
    return {
      /** Absolute, real path of the engine root in the copy. */
      iacRoot: await realpath(iacRoot),
      /** The field of jobs in the copy about its state. */
      state: { cloud: null, override_sha256: await sha256Hex(LOCAL_STATE) },
      /** Does the work while the engine reads a value file after all others of the root. */
      withValues: async <T>({ path, text }: { path: string; text: string }, work: () => Promise<T>): Promise<T> => {
        const name = lastLoadedName(path, await readdir(iacRoot))
        await writePrivateFile(join(iacRoot, name), text, { shared })
        return await work().finally(() => removeRightInside(iacRoot, name))
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}
