import { resolveInside } from './files/confine.ts'
import { LINK } from './git/git.ts'
import type { TreeEntry } from './tree.ts'

/** What of a repository must not reach the engine, told by names alone. */
export interface UnsafeNames {
  /** True for plugins, which the engine would run, and for what lies in a git directory, which names programs. */
  isUnsafe(path: string): boolean
  /** True for what lies in a folder that is itself a git directory. */
  isNested(path: string): boolean
}

/** Finds what must not be checked out, whatever it holds. */
export function findUnsafeNames(entries: readonly TreeEntry[]): UnsafeNames {
  const nested = findGitDirectories(entries)
  const isNested = (path: string) => {
    if (nested.size === 0) return false
    if (nested.has('')) return true
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      if (nested.has(path.slice(0, end))) return true
    return false
  }
  return { isNested, isUnsafe: (path) => PLUGIN_FOLDER.test(path) || isNested(path) }
}

const PLUGIN_FOLDER = /(?:^|\/)(?:\.terraform|terraform\.d)(?:\/|$)/i
const GIT_NAME = /(?:^|\/)(?:head|objects|refs|commondir)(?:\/|$)/i
const GIT_NAMES = new Set(['head', 'objects', 'refs', 'commondir'])

/** Finds folders with `HEAD` and either `objects` and `refs` or `commondir`; empty stands for the clone. */
function findGitDirectories(entries: readonly TreeEntry[]): Set<string> {
  const names = new Map<string, Set<string>>()
  for (const { path } of entries) {
    if (!GIT_NAME.test(path)) continue
    const segments = path.split('/')
    for (const [index, segment] of segments.entries()) {
      const name = segment.toLowerCase()
      if (!GIT_NAMES.has(name)) continue
      const folder = segments.slice(0, index).join('/')
      names.set(folder, (names.get(folder) ?? new Set()).add(name))
    }
  }
  const isRepository = (found: Set<string>) =>
    found.has('head') && (found.has('commondir') || (found.has('objects') && found.has('refs')))
  return new Set([...names].filter(([, found]) => isRepository(found)).map(([folder]) => folder))
}

/**
 * Finds the symlinks that lead out of the clone or into git's directory, which would expose other files. All links must
 * be on the disk: what is not there then holds none.
 */
export async function findUnsafeLinks(root: string, entries: readonly TreeEntry[]): Promise<TreeEntry[]> {
  const unsafe: TreeEntry[] = []
  for (const entry of entries) if (entry.mode === LINK && (await isUnsafeLink(root, entry.path))) unsafe.push(entry)
  return unsafe
}

async function isUnsafeLink(root: string, path: string): Promise<boolean> {
  const target = await resolveInside(root, path)
  return target === null || target.split('/')[0]?.toLowerCase() === '.git'
}
