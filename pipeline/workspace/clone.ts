import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
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
import { isInside, locateRoot, resolveLink } from './files/confine.ts'
import { excludeNeverPushed, hiddenNames, neverPushed, WORKSPACE_MARKER } from './files/engine-files.ts'
import { isShared, removeRightInside, shareTree, writePrivateFile } from './files/private-files.ts'
import { createLocalGit, type Git, LINK, MAX_LISTING, SUBMODULE } from './git/git.ts'
import { keepMirror, takeMirror } from './git/mirror.ts'
import { describeUnloaded, type IndexEntry } from './unloaded.ts'
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

/**
 * Removes entries from the work tree that must not reach the engine: symlinks out of the clone or into git's directory,
 * which would expose other files; plugin folders, which the engine would run; and git directories, whose configuration
 * names programs. The index marks them as not present, so that they stay on the branch, and submodules likewise,
 * because git would use a repository in their place. Errors: 400 `iac_path '…' is not a directory inside the
 * repository`, also inside a committed git directory and a submodule.
 * @returns the absolute path of the engine root, and notes on what the clone lacks
 */
export async function removeUnsafeEntries(git: Git, iacPath: string | null, log: Logger) {
  const entries = await listEntries(git)
  const notes = await describeUnloaded(git, entries, iacPath)
  const root = await realpath(git.place.workTree)
  const nested = findGitDirectories(entries)
  const isNested = (path: string) => nested.has('') || parentsOf(path).some((folder) => nested.has(folder))
  const unsafe: string[] = []
  const hidden: string[] = []
  for (const { mode, path } of entries) {
    if (mode === SUBMODULE) hidden.push(path)
    else if (isPluginFolder(path) || (mode === LINK && (await isUnsafeLink(root, path)))) unsafe.push(path)
  }
  await hide(git, [...unsafe, ...hidden])
  for (const path of unsafe) await rm(join(root, path), { force: true })
  const iacRoot = await locateRoot(root, iacPath)
  // The root is located first, because a link may lead into such a folder.
  if (isNested([...relative(root, iacRoot).split(sep).filter(Boolean), 'a file'].join('/')))
    throw badRequest(
      `iac_path '${iacPath ?? ''}' is not a directory inside the repository: it lies in a folder that is itself a ` +
        'git directory (HEAD, objects, refs)',
    )
  const inside = entries.filter(({ mode, path }) => mode !== SUBMODULE && isNested(path)).map(({ path }) => path)
  await hide(git, inside)
  for (const folder of nested) await rm(join(root, folder), { recursive: true, force: true })
  if (unsafe.length + inside.length > 0)
    log.warn('unsafe entries of the repository were taken out of the work tree', {
      paths: [...unsafe, ...inside].slice(0, 20),
      count: unsafe.length + inside.length,
    })
  return { iacRoot, notes }
}

async function listEntries(git: Git): Promise<IndexEntry[]> {
  const listed = await git.run(['ls-files', '--stage', '-z'], { maxOutput: MAX_LISTING })
  return listed
    .split('\0')
    .filter(Boolean)
    .map((line) => ({ mode: line.slice(0, 6), path: line.slice(line.indexOf('\t') + 1) }))
}

/** Marks entries of the index as not present, so that git neither reads nor deletes them. */
async function hide(git: Git, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  const input = `${paths.join('\0')}\0`
  await git.run(['update-index', '--skip-worktree', '-z', '--stdin'], { input })
}

/** Finds folders with `HEAD` and either `objects` and `refs` or `commondir`; empty stands for the clone. */
function findGitDirectories(entries: readonly IndexEntry[]): Set<string> {
  const names = new Map<string, Set<string>>()
  for (const { path } of entries) {
    const segments = path.toLowerCase().split('/')
    const at = segments.findIndex((name) => GIT_NAMES.has(name))
    for (let index = at; index >= 0 && index < segments.length; index++) {
      const name = segments[index] ?? ''
      if (!GIT_NAMES.has(name)) continue
      const folder = path.split('/').slice(0, index).join('/')
      names.set(folder, (names.get(folder) ?? new Set()).add(name))
    }
  }
  const isRepository = (found: Set<string>) =>
    found.has('head') && (found.has('commondir') || (found.has('objects') && found.has('refs')))
  return new Set([...names].filter(([, found]) => isRepository(found)).map(([folder]) => folder))
}

const GIT_NAMES = new Set(['head', 'objects', 'refs', 'commondir'])

/** Returns the folders above a path, without `''` for the clone. */
function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let folder = dirname(path); folder !== '.' && folder !== '/'; folder = dirname(folder)) parents.push(folder)
  return parents
}

const isPluginFolder = (path: string): boolean =>
  path.split('/').some((segment) => /^(\.terraform|terraform\.d)$/i.test(segment))

/** True if a path of the repository is a symlink that leads out of the clone or into git's directory. */
async function isUnsafeLink(root: string, path: string): Promise<boolean> {
  const target = await resolveLink(join(root, path))
  if (target === null) return false
  return !isInside(root, target) || isInside(join(root, '.git'), target.split(sep).map(lowerGit).join(sep))
}

const lowerGit = (segment: string): string => (segment.toLowerCase() === '.git' ? '.git' : segment)

/** A second working copy with an empty state of its own. */
export type WorkspaceCopy = Awaited<ReturnType<typeof copyCommit>>

type Original = Pick<Workspace, 'clone' | 'gitDirectory' | 'iacRoot'>

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
