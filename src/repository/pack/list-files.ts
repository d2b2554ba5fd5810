import { toHex } from '../../base/bytes.ts'
import type { Slices } from '../../base/slices.ts'
import type { PackObjects } from './read-pack.ts'

/** A file of a commit. */
export interface RepositoryFile {
  /** POSIX path from the root of the repository. */
  path: string
  /** Hash of its contents in git. */
  hash: string
  /** True for a symbolic link, whose contents are its target. */
  isLink: boolean
}

/** Limits of a commit's trees; one tree can occur in many others, so its size is no limit. */
const MAX_ENTRIES = 500_000
const MAX_DEPTH = 128
const MAX_PATH = 4_096
/** Characters in the paths of all directories and of listed files. */
const MAX_CHARACTERS = 32 * 1024 * 1024
/** Entries between two checks of the clock. */
const BATCH = 1_024

const SPACE = 0x20
const HASH_BYTES = 20

/** A directory to read; `prefix` ends with a slash except at the root. */
interface Pending {
  hash: string
  prefix: string
  depth: number
}

/**
 * Lists the files of a commit whose names have one of the given endings.
 * @returns in no particular order
 * Errors: plain ones for a tree that is damaged, missing or beyond the limits; the reason of the signal of the slices.
 */
export async function listFiles(
  objects: PackObjects,
  commit: string,
  { suffixes, slices }: { suffixes: readonly string[]; slices: Slices },
): Promise<RepositoryFile[]> {
  const files: RepositoryFile[] = []
  const pending: Pending[] = [{ hash: treeOf(objects, commit), prefix: '', depth: 0 }]
  let [entries, characters] = [0, 0]
  for (let directory = pending.pop(); directory; directory = pending.pop()) {
    for (const entry of readTree(contentsOf(objects, directory.hash, 'tree'))) {
      if (++entries > MAX_ENTRIES) throw new Error(`the repository holds more than ${MAX_ENTRIES} files`)
      if (entries % BATCH === 0 && slices.due()) await slices.pause()
      const suffix = suffixes.find((text) => endsWith(entry.name, text))
      if (!entry.isTree && suffix === undefined) continue
      const path = directory.prefix + decodeName(entry.name)
      characters += path.length
      if (path.length > MAX_PATH || characters > MAX_CHARACTERS)
        throw new Error('the paths of the repository are too long')
      if (!entry.isTree) files.push({ path, hash: entry.hash(), isLink: entry.isLink })
      else if (directory.depth < MAX_DEPTH)
        pending.push({ hash: entry.hash(), prefix: `${path}/`, depth: directory.depth + 1 })
      else throw new Error(`the repository is more than ${MAX_DEPTH} directories deep`)
    }
  }
  return files
}

function contentsOf(objects: PackObjects, hash: string, kind: 'commit' | 'tree'): Uint8Array {
  const object = objects.get(hash)
  if (object?.kind !== kind) throw new Error(`the pack lacks a ${kind}`)
  return object.contents
}

function treeOf(objects: PackObjects, commit: string): string {
  const head = new TextDecoder().decode(contentsOf(objects, commit, 'commit').subarray(0, 46))
  const tree = /^tree ([0-9a-f]{40})\n/.exec(head)?.[1]
  if (tree === undefined) throw new Error('the commit names no tree')
  return tree
}

/** Yields the entries of a tree: `<mode> <name>`, NUL, and 20 bytes of hash. */
function* readTree(tree: Uint8Array) {
  for (let start = 0; start < tree.length; ) {
    const space = tree.indexOf(SPACE, start)
    const end = tree.indexOf(0, space + 1)
    const next = end + 1 + HASH_BYTES
    if (space < 0 || end <= space + 1 || next > tree.length) throw new Error('a tree of the repository is damaged')
    yield {
      isTree: isTreeMode(tree.subarray(start, space)),
      isLink: tree[start] === '1'.charCodeAt(0) && tree[start + 1] === '2'.charCodeAt(0),
      name: tree.subarray(space + 1, end),
      /** Returns the hexadecimal hash, computed on demand. */
      hash: () => toHex(tree.subarray(end + 1, next)),
    }
    start = next
  }
}

/** Reports whether a mode is `40000` or `040000`; other modes begin with another digit. */
const isTreeMode = (mode: Uint8Array): boolean => mode.length <= 6 && mode[mode.length - 5] === '4'.charCodeAt(0)

function endsWith(name: Uint8Array, suffix: string): boolean {
  const start = name.length - suffix.length
  if (start < 0) return false
  for (let index = 0; index < suffix.length; index++) if (name[start + index] !== suffix.charCodeAt(index)) return false
  return true
}

/** Decodes a name. Errors: a plain one for a name that is not a single path segment. */
function decodeName(bytes: Uint8Array): string {
  const name = new TextDecoder().decode(bytes)
  if (name === '.' || name === '..' || name.includes('/')) throw new Error('a tree of the repository is damaged')
  return name
}
