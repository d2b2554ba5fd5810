import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/types.ts'
import { internal } from '../../src/base/errors.ts'
import { assertSumFits, listChanges } from './change-budget.ts'
import { readText } from './files/access.ts'
import { excludeNeverPushed } from './files/engine-files.ts'
import { withRegularFile } from './files/private-files.ts'
import { createLocalGit, describeGitFailure, mustSucceed } from './git/git.ts'
import type { Checkout, FileChange, Workspace } from './workspace.ts'

const DIFF = ['diff', '--no-ext-diff', '--ignore-submodules=all', '--relative']
const TEXT_DIFF = [...DIFF, '--no-color', '--no-textconv', '--no-prefix']

/** Lists the files below the engine root that differ between `since`, a commit of this clone, and the head. */
export async function listChangedFiles(checkout: Checkout, since: string): Promise<string[]> {
  const args = [...NAMES, since, 'HEAD', '--', '.', ...excludeNeverPushed(checkout.paths)]
  return (await checkout.git.run(args, { cwd: checkout.iacRoot })).split('\0').filter(Boolean)
}

const NAMES = [...DIFF, '--name-only', '-z', '--no-renames']
const FULL_DIFF = [...TEXT_DIFF, '--no-renames', '--unified=1000']

/**
 * Reads the pending changes below the engine root: changed files as diffs with full context, new files as text. Errors:
 * 422 for too many or too large changes.
 */
export async function readPendingChanges(checkout: Checkout): Promise<FileChange[]> {
  const { git, iacRoot } = checkout
  const { max_change_mib } = git.limits
  await listChanges(checkout)
  const run = async (args: string[]) => {
    const output = await git.local(args, { cwd: iacRoot })
    return output.stopped === 'output' ? output.stdout : mustSucceed(git, output)
  }
  const listed = await run([...NAMES, '--diff-filter=AMDT', 'HEAD', '--', '.', ...excludeNeverPushed(checkout.paths)])
  const changes: FileChange[] = []
  let bytes = 0
  for (const path of listed.split('\0').filter(Boolean)) {
    const content = await run(['--literal-pathspecs', ...FULL_DIFF, 'HEAD', '--', path])
    // A file that was made small holds little, but its diff shows what it was.
    bytes += content.length
    assertSumFits(git.limits, bytes, `Changes that take ${max_change_mib} MiB and more were made or left`, [path])
    changes.push({ path, new_file: false, content })
  }
  for (const { path, content } of await readUntrackedFiles(checkout)) changes.push({ path, new_file: true, content })
  return changes
}

const MAX_CHARACTERS = 1_000_000

/** Reads the new files below the engine root that no ignore rule hides. */
async function readUntrackedFiles(checkout: Checkout) {
  const { git, iacRoot } = checkout
  const args = ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ...excludeNeverPushed(checkout.paths)]
  const listed = await git.run(args, { cwd: iacRoot })
  const files: Pick<FileChange, 'path' | 'content'>[] = []
  for (const path of listed.split('\0').filter(Boolean)) {
    const file = join(iacRoot, path)
    // An engine run can replace the engine root or a folder by a link that leads out of the clone.
    const isInPlace = (await realpath(file).catch(() => null)) === file
    const content = isInPlace ? await readText(file, MAX_CHARACTERS) : null
    if (content !== null) files.push({ path, content })
  }
  return files
}

/** Number of commits that are fetched before the whole history. */
const FIRST_STEP = 200

/**
 * Finds the merge base, fetching more history if needed.
 * @throws 500 `Git error when merging base: …`, `Git error when unshallowing: …`
 */
export async function findMergeBase(checkout: Checkout): Promise<string> {
  const { git, branch, defaultBranch } = checkout
  const ask = () => git.local(['merge-base', `refs/remotes/origin/${defaultBranch}`, 'HEAD'])
  let output = await ask()
  for (const depth of [`--deepen=${FIRST_STEP}`, '--unshallow']) {
    const shallow = await lstat(join(git.place.directory, 'shallow')).catch(() => null)
    if (output.code === 0 || shallow === null) break
    const branches = branch === defaultBranch ? [branch] : [defaultBranch, branch]
    const refspecs = branches.map((name) => `+refs/heads/${name}:refs/remotes/origin/${name}`)
    const fetched = await git.network(['fetch', '--quiet', '--no-tags', depth, 'origin', ...refspecs])
    if (fetched.code !== 0) throw internal(`Git error when unshallowing: ${describeGitFailure(git, fetched)}`)
    output = await ask()
  }
  if (output.code !== 0) throw internal(`Git error when merging base: ${describeGitFailure(git, output)}`)
  return output.stdout.trim()
}

/** The whole text of a file now, and in the last commit. */
export interface Versions {
  current: string
  /** Null for a file that the commit does not have. */
  committed: string | null
}

const MAX_VERSION_BYTES = 1_000_000

/**
 * Reads a file of the engine root byte for byte. Null for anything but a regular file of at most 1 MB of UTF-8 that no
 * link leads to, and when the last commit has something else under its name.
 * @param path relative to the engine root
 * @param isNew true if the last commit does not have the file
 */
export async function readVersions(
  config: Config,
  { iacRoot, clone: workTree, gitDirectory: directory }: Pick<Workspace, 'iacRoot' | 'clone' | 'gitDirectory'>,
  { path, isNew }: { path: string; isNew: boolean },
  signal?: AbortSignal,
): Promise<Versions | null> {
  const current = await readExactly(join(iacRoot, path))
  if (current === null || isNew) return current === null ? null : { current, committed: null }
  const git = createLocalGit(config.git, { directory, workTree })
  const shown = await git(['cat-file', 'blob', `HEAD:./${path}`], {
    cwd: iacRoot,
    maxOutput: MAX_VERSION_BYTES,
    signal,
  })
  return shown.code === 0 && !shown.stopped ? { current, committed: shown.stdout } : null
}

async function readExactly(path: string): Promise<string | null> {
  // An engine run can replace the engine root or a folder by a link that leads out of the clone.
  if ((await realpath(path).catch(() => null)) !== path) return null
  return await withRegularFile(path, async (handle, size) => {
    if (size > MAX_VERSION_BYTES) return null
    const bytes = await handle.readFile()
    const text = bytes.toString('utf8')
    return Buffer.from(text).equals(bytes) ? text : null
  })
}
