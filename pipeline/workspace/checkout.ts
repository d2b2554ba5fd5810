import { mkdir, realpath, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { badRequest } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { locateRoot, resolveInside } from './files/confine.ts'
import { WORKSPACE_MARKER } from './files/engine-files.ts'
import { findLoadedCode } from './files/loaded-code.ts'
import { type Git, LINK, SUBMODULE } from './git/git.ts'
import type { Tree, TreeEntry } from './tree.ts'
import { describeUnloaded } from './unloaded.ts'
import { findUnsafeLinks, findUnsafeNames } from './unsafe.ts'

interface CheckoutOptions {
  /** The engine root in the clone; null for the clone itself. */
  iacPath: string | null
  log: Logger
}

/** Files of a commit in the work tree: at first those that the root uses, later all. */
export interface CheckedOutFiles {
  /** Absolute, real path of the engine root. */
  iacRoot: string
  /** Sentences on what the clone lacks. */
  notes: string[]
  /**
   * Brings the other files, in time beside other work; each call waits for the same end. Meanwhile no other command may
   * write git's index. Errors: 500 with git's text.
   */
  complete(): Promise<void>
}

/**
 * Loads a commit into git's index, and checks out what is looked at first: the engine root with all that is below it,
 * what its code and its links lead to, and the files that say how git treats others. What must not reach the engine is
 * never written: symlinks out of the clone or into git's directory, which would expose other files; plugin folders,
 * which the engine would run; and git directories, whose configuration names programs. The index marks them as not
 * present, so that they stay on the branch, and submodules likewise, because git would use a repository in their place.
 * Errors: 400 `iac_path '…' is not a directory inside the repository`, also inside a committed git directory and a
 * submodule; 500 with git's text.
 */
export async function checkOutFiles(git: Git, tree: Tree, { iacPath, log }: CheckoutOptions): Promise<CheckedOutFiles> {
  await git.run(['read-tree', tree.commit])
  const names = findUnsafeNames(tree.entries)
  const unsafe = tree.entries.filter(({ mode, path }) => mode !== SUBMODULE && names.isUnsafe(path))
  const parts = createParts(git, tree, unsafe)
  await parts.take(tree.entries.flatMap((entry, index) => (comesFirst(entry) ? [index] : [])))
  const notes = await describeUnloaded(git, tree.entries, iacPath)
  const top = await realpath(git.place.workTree)
  const links = await findUnsafeLinks(
    top,
    tree.entries.filter(({ path }) => !names.isUnsafe(path)),
  )
  for (const { path } of links) await rm(join(top, path), { force: true })
  const iacRoot = await provideRoot(parts, top, { iacPath, isNested: names.isNested })
  await provideReach(parts, top, iacRoot)
  const hidden = [...unsafe, ...links]
  if (hidden.length > 0)
    log.warn('unsafe entries of the repository were taken out of the work tree', {
      paths: hidden.slice(0, 20).map(({ path }) => path),
      count: hidden.length,
    })
  const submodules = tree.entries.filter(({ mode }) => mode === SUBMODULE)
  let completed: Promise<void> | null = null
  const complete = async () => {
    await parts.takeRest()
    await hide(git, [...hidden, ...submodules])
  }
  return {
    iacRoot,
    notes,
    complete: () => {
      completed ??= complete()
      return completed
    },
  }
}

/** Files by which git decides on others, and links, without which it is not known where a path leads. */
const FIRST = /(?:^|\/)\.git(?:attributes|ignore)$/

const comesFirst = ({ mode, path }: TreeEntry): boolean =>
  mode === LINK || FIRST.test(path) || path === WORKSPACE_MARKER || path.startsWith(`${WORKSPACE_MARKER}/`)

type Parts = ReturnType<typeof createParts>

/** Checks out a tree in parts. */
function createParts(git: Git, tree: Tree, leftOut: readonly TreeEntry[]) {
  const never = new Set(leftOut)
  const taken = new Uint8Array(tree.entries.length)
  for (const [index, entry] of tree.entries.entries()) if (never.has(entry)) taken[index] = 1
  const fresh = (indices: readonly number[]) => {
    const chosen = indices.filter((index) => taken[index] === 0)
    for (const index of chosen) taken[index] = 1
    return chosen
  }
  const write = async (indices: readonly number[], options: readonly string[]) => {
    if (indices.length === 0) return
    const input = inputOf(indices.flatMap((index) => tree.entries[index] ?? []))
    await git.run(['checkout-index', '--quiet', ...options, '-z', '--stdin'], { input })
  }
  return {
    tree,
    /** Does what `resolveInside` does, and makes the folders of the tree through which the path leads. */
    resolve: async (top: string, path: string): Promise<string | null> => {
      const left: string[] = []
      const target = await resolveInside(top, path, left)
      for (const folder of new Set(left)) {
        const [from, to] = tree.below(folder)
        if (from < to) await mkdir(join(top, folder), { recursive: true })
      }
      return target
    },
    /** Checks out the entries with these indices, and returns those of them that were not there yet. */
    take: async (indices: readonly number[]): Promise<number[]> => {
      const chosen = fresh(indices)
      await write(chosen, [])
      return chosen
    },
    /** Checks out all others, and notes in the index what is on the disk. */
    takeRest: async (): Promise<void> => {
      await write(fresh([...tree.entries.keys()]), ['--index'])
      // Of what was there before, the index does not know yet that it is unchanged; what is changed is an exit code.
      await git.local(['update-index', '-q', '--refresh'])
    },
  }
}

const inputOf = (entries: readonly TreeEntry[]): Buffer =>
  Buffer.from(entries.map(({ bytes }) => `${bytes}\0`).join(''), 'latin1')

/** Marks entries of the index as not present, so that git neither reads nor deletes them. */
async function hide(git: Git, entries: readonly TreeEntry[]): Promise<void> {
  if (entries.length === 0) return
  await git.run(['update-index', '--skip-worktree', '-z', '--stdin'], { input: inputOf(entries) })
}

/** Checks out all that is in and below the engine root. Returns its absolute, real path. Errors: 400. */
async function provideRoot(
  parts: Parts,
  top: string,
  { iacPath, isNested }: { iacPath: string | null; isNested(path: string): boolean },
): Promise<string> {
  // A link may lead into a folder that is not checked out.
  const root = await parts.resolve(top, iacPath ?? '')
  const range = root === null ? [] : rangeOf(parts.tree.below(root))
  if (root !== null && range.length > 0) {
    if (isNested(root === '' ? 'a file' : `${root}/a file`))
      throw badRequest(
        `iac_path '${iacPath ?? ''}' is not a directory inside the repository: it lies in a folder that is itself a ` +
          'git directory (HEAD, objects, refs)',
      )
    await mkdir(join(top, root), { recursive: true })
    await parts.take(range)
  }
  return await locateRoot(top, iacPath)
}

const rangeOf = ([from, to]: readonly [number, number]): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index)

/** Checks out what tools may read outside of the root: see `Reach`. */
async function provideReach(parts: Parts, top: string, iacRoot: string): Promise<void> {
  const { tree, take } = parts
  const root = relative(top, iacRoot).split(sep).join('/')
  /** What a path names; of a folder around the root, only what is directly in it. */
  const namedBy = async (path: string): Promise<number[]> => {
    const target = await parts.resolve(top, path)
    if (target === null) return []
    const [exact, range] = [tree.at(target), rangeOf(tree.below(target))]
    if (exact >= 0) return [exact]
    if (target !== '' && !root.startsWith(`${target}/`)) return range
    const start = target === '' ? 0 : target.length + 1
    const [files, folders]: [number[], Set<string>] = [[], new Set()]
    for (const index of range) {
      const path = tree.entries[index]?.path ?? ''
      const end = path.indexOf('/', start)
      if (end < 0) files.push(index)
      else folders.add(path.slice(0, end))
    }
    // A folder beside the root is refused in other words than one that does not exist.
    for (const folder of folders) await mkdir(join(top, folder), { recursive: true })
    return files
  }
  const followed = new Set<number>()
  const provide = async (paths: readonly string[]): Promise<void> => {
    for (let waiting = paths; waiting.length > 0; ) {
      const found: number[] = []
      for (const path of new Set(waiting)) found.push(...(await namedBy(path)))
      await take(found)
      const links = found.filter((index) => tree.entries[index]?.mode === LINK && !followed.has(index))
      for (const index of links) followed.add(index)
      waiting = links.flatMap((index) => tree.entries[index]?.path ?? [])
    }
  }
  const below = rangeOf(tree.below(root)).filter((index) => tree.entries[index]?.mode === LINK)
  await provide(below.flatMap((index) => tree.entries[index]?.path ?? []))
  const { references } = await findLoadedCode({ clone: top, iacRoot }, null, provide)
  await provide([...references])
}
