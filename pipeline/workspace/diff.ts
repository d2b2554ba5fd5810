import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { internal } from '../../src/base/errors.ts'
import { allInOrder } from '../../src/base/gate.ts'
import { assertSumFits, listChanges } from './change-budget.ts'
import { readText } from './files/access.ts'
import { excludeNeverPushed } from './files/engine-files.ts'
import { describeGitFailure, MIB, mustSucceed } from './git/git.ts'
import type { Checkout, FileChange } from './workspace.ts'

const DIFF = ['diff', '--no-ext-diff', '--ignore-submodules=all', '--relative']
const TEXT_DIFF = [...DIFF, '--no-color', '--no-textconv', '--no-prefix']

/** Lists the files below the engine root that differ between `since`, a commit of this clone, and the head. */
export async function listChangedFiles(checkout: Checkout, since: string): Promise<string[]> {
  return await listNames(checkout, [since, 'HEAD'])
}

const NAMES = [...DIFF, '--name-only', '-z', '--no-renames']
const FULL_DIFF = [...TEXT_DIFF, '--no-renames', '--unified=1000']

/**
 * Reads the pending changes below the engine root: changed files as diffs with full context, new files as text. Errors:
 * 422 for too many or too large changes.
 */
export async function readPendingChanges(checkout: Checkout): Promise<FileChange[]> {
  await listChanges(checkout)
  const [changes, untracked] = await allInOrder([readChanges(checkout, ['HEAD']), readUntrackedFiles(checkout)])
  return [...changes, ...untracked]
}

/**
 * Reads how the staged files below the engine root differ from the start of the run, in the same form: a file that the
 * run made is new whatever later attempts did to it, and one that is again as it was is left out. Errors: 422 for
 * changes that are too large.
 */
export const readRunChanges = (checkout: Checkout): Promise<FileChange[]> =>
  readChanges(checkout, ['--cached', checkout.base])

async function readChanges(checkout: Checkout, since: readonly string[]): Promise<FileChange[]> {
  const { added, changed } = await listKinds(checkout, since)
  const diffs = changed.length === 0 ? [] : await readDiffs(checkout, since, changed)
  return [
    ...changed.map((path, index) => ({ path, new_file: false, content: diffs[index] ?? '' })),
    ...(await readTexts(checkout, added)),
  ]
}

const CHANGED_KINDS = ['M', 'D', 'T']
const CHANGED = `--diff-filter=${CHANGED_KINDS.join('')}`

/** Reads the diffs of the changed files with one call of git, in the order of the paths. */
async function readDiffs({ git, iacRoot, paths: own }: Checkout, since: readonly string[], paths: readonly string[]) {
  const { max_change_mib } = git.limits
  const args = [...FULL_DIFF, CHANGED, ...since, '--', '.', ...excludeNeverPushed(own)]
  const output = await git.local(args, { cwd: iacRoot, maxOutput: max_change_mib * MIB })
  // A file that was made small holds little, but its diff shows what it was.
  const bytes = output.stopped === 'output' ? Number.POSITIVE_INFINITY : 0
  assertSumFits(git.limits, bytes, `Changes that take ${max_change_mib} MiB and more were made or left`, paths)
  const diffs: string[] = []
  // A line of a file has a sign before it, so that only the head of a diff begins with these words.
  const [, ...parts] = `\n${mustSucceed(git, output)}`.replace(/\n$/, '').split(HEAD)
  for (const part of parts) {
    const diff = `${HEAD.trimStart()}${part}\n`
    // A file that becomes a link has two: its removal and its addition.
    if (/^[^\n]*\nnew file mode /.test(part)) diffs.push(`${diffs.pop() ?? ''}${diff}`)
    else diffs.push(diff)
  }
  return diffs
}

const HEAD = '\ndiff --git '

async function listNames(checkout: Checkout, which: readonly string[]): Promise<string[]> {
  const args = [...NAMES, ...which, '--', '.', ...excludeNeverPushed(checkout.paths)]
  return (await checkout.git.run(args, { cwd: checkout.iacRoot })).split('\0').filter(Boolean)
}

/** Lists the new files, and those that changed or are gone. */
async function listKinds({ git, iacRoot, paths }: Checkout, since: readonly string[]) {
  const args = [...DIFF, '--name-status', '-z', '--no-renames', ...since, '--', '.', ...excludeNeverPushed(paths)]
  const fields = (await git.run(args, { cwd: iacRoot })).split('\0').values()
  const found = { added: [] as string[], changed: [] as string[] }
  for (const kind of fields) {
    const path = fields.next().value
    if (path === undefined) break
    if (kind === 'A') found.added.push(path)
    else if (CHANGED_KINDS.includes(kind)) found.changed.push(path)
  }
  return found
}

const MAX_CHARACTERS = 1_000_000

/** Reads the new files below the engine root that no ignore rule hides. */
async function readUntrackedFiles(checkout: Checkout): Promise<FileChange[]> {
  const { git, iacRoot } = checkout
  const args = ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ...excludeNeverPushed(checkout.paths)]
  return await readTexts(checkout, (await git.run(args, { cwd: iacRoot })).split('\0').filter(Boolean))
}

/** Reads new files whole; what is no regular text file is left out. */
async function readTexts({ iacRoot }: Checkout, paths: readonly string[]): Promise<FileChange[]> {
  const files: FileChange[] = []
  for (const path of paths) {
    const file = join(iacRoot, path)
    // An engine run can replace the engine root or a folder by a link that leads out of the clone.
    const isInPlace = (await realpath(file).catch(() => null)) === file
    const content = isInPlace ? await readText(file, MAX_CHARACTERS) : null
    if (content !== null) files.push({ path, new_file: true, content })
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
