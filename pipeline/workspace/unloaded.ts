import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { badRequest } from '../../src/base/errors.ts'
import { isEngineCode } from '../../src/repository/roots/loaded-names.ts'
import { type Git, MAX_LISTING, SUBMODULE } from './git/git.ts'
import type { TreeEntry } from './tree.ts'

const SHOWN = 5
const MAX_ATTRIBUTES = 1_000_000

/**
 * Returns what a reader must know about parts of a repository that a clone lacks: submodules, and the contents of files
 * in Git LFS, whose pointers are in their place. Errors: 400 for an engine root in a submodule, and for code of the
 * engine in Git LFS, which the engine would read as it stands.
 */
export async function describeUnloaded(git: Git, entries: readonly TreeEntry[], iacPath: string | null) {
  const submodules = entries.filter(({ mode }) => mode === SUBMODULE).map(({ path }) => path)
  const root = posix.normalize(iacPath ?? '.').replace(/\/$/, '')
  const around = submodules.find((path) => root === path || root.startsWith(`${path}/`))
  if (around !== undefined)
    throw badRequest(
      `iac_path '${iacPath}' is not a directory inside the repository: '${around}' is a submodule, and the platform ` +
        'does not load submodules; use the repository of the submodule itself',
    )
  const pointers = await findPointers(git, entries)
  const code = pointers.find((path) => isEngineCode(posix.basename(path)))
  if (code !== undefined)
    throw badRequest(
      `The code '${code}' is kept in Git LFS, which the platform does not load: keep code in git itself.`,
    )
  const notes: string[] = []
  if (submodules.length > 0)
    notes.push(`Submodules are not loaded, so modules and files in them are missing: ${listed(submodules)}.`)
  if (pointers.length > 0)
    notes.push(
      'The contents of files in Git LFS are not loaded, so the engine reads their pointers; do not apply a plan that ' +
        `depends on one of them: ${listed(pointers)}.`,
    )
  return notes
}

const listed = (paths: readonly string[]): string => {
  const rest = paths.length - SHOWN
  return `${paths
    .slice(0, SHOWN)
    .map((path) => `'${path}'`)
    .join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Finds the pointers of Git LFS. Only a repository that names its filter is searched, because that reads all files. */
async function findPointers({ place, local }: Git, entries: readonly TreeEntry[]): Promise<string[]> {
  const attributes = entries.filter(({ path }) => posix.basename(path) === '.gitattributes').slice(0, SHOWN * 20)
  const texts = await Promise.all(
    attributes.map(({ path }) => readFile(join(place.workTree, path), 'utf8').catch(() => '')),
  )
  if (!texts.some((text) => /\bfilter=lfs\b/.test(text.slice(0, MAX_ATTRIBUTES)))) return []
  const pattern = '^version https://git-lfs\\.github\\.com/spec/v1$'
  const found = await local(['grep', '--cached', '-I', '-l', '-z', '-e', pattern], { maxOutput: MAX_LISTING })
  return found.stdout.split('\0').filter(Boolean)
}
