import { isUtf8 } from 'node:buffer'
import { badRequest, type PlatformError } from '../../src/base/errors.ts'
import {
  type CloneLimits,
  type Git,
  LINK,
  MIB,
  measure,
  mustSucceed,
  repositoryTooLarge,
  tooManyFiles,
} from './git/git.ts'

/** A file, link or submodule of a commit. */
export interface TreeEntry {
  /** As git writes it, of six digits. */
  mode: string
  /** With slashes, relative to the clone. */
  path: string
  /** The bytes of the path, one a character: a name need not be UTF-8. */
  bytes: string
}

/** What a commit holds, without its folders. */
export interface Tree {
  commit: string
  /** In the order of the bytes of their paths. */
  entries: readonly TreeEntry[]
  /** Returns the range of the entries in a folder and in those below it; empty for what is no folder. */
  below(folder: string): [from: number, to: number]
  /** Returns the index of the entry with this path; -1 for none. */
  at(path: string): number
}

/**
 * Lists what a commit holds, before any of it is checked out. Errors: 422 `RepositoryTooLarge` when its files exceed the
 * limits; 400 for a name that only the engine can read; 500 with git's text.
 */
export async function readTree(git: Git, commit: string): Promise<Tree> {
  const { bytes } = await measure(git.place.directory)
  const reader = createTreeReader(git.limits, bytes)
  const output = await git.local(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit], { consume: reader.take })
  const refusal = reader.refusal()
  if (refusal !== null) throw refusal
  mustSucceed(git, output)
  const { entries } = reader
  const below = (folder: string): [number, number] => {
    const start = bytesOf(folder)
    return start === '' ? [0, entries.length] : [firstFrom(entries, `${start}/`), firstFrom(entries, `${start}0`)]
  }
  const at = (path: string): number => {
    const index = firstFrom(entries, bytesOf(path))
    return entries[index]?.path === path ? index : -1
  }
  return { commit, entries, below, at }
}

/** Returns the bytes of a text in UTF-8, one a character. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** Returns the index of the first entry that does not lie before these bytes. */
function firstFrom(entries: readonly TreeEntry[], bytes: string): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((entries[middle]?.bytes ?? '') < bytes) low = middle + 1
    else high = middle
  }
  return low
}

/** Reads the streamed output of `ls-tree -r -t -l -z`, and counts files and folders. */
function createTreeReader(limits: CloneLimits, start: number) {
  const entries: TreeEntry[] = []
  let bytes = start
  let count = 0
  let rest = ''
  let unreadable: string | null = null
  const refusal = (): PlatformError | null => {
    if (unreadable !== null) return unreadableName(unreadable)
    if (bytes > limits.max_clone_mib * MIB) return repositoryTooLarge(limits)
    return count > limits.max_clone_files ? tooManyFiles(limits) : null
  }
  const read = (line: string) => {
    // `<mode> <kind> <object> <size>`, a tab, and the path; the size is a hyphen for a folder.
    const tab = line.indexOf('\t')
    const size = Number(line.slice(line.lastIndexOf(' ', tab) + 1, tab))
    if (Number.isFinite(size)) bytes += size
    count++
    const [mode, name] = [line.slice(0, 6), line.slice(tab + 1)]
    const path = NOT_ASCII.test(name) ? Buffer.from(name, 'latin1').toString() : name
    if (path !== name && (mode === LINK || CODE.test(path)) && !isUtf8(Buffer.from(name, 'latin1'))) unreadable = path
    if (mode !== FOLDER) entries.push({ mode, path, bytes: name })
  }
  return {
    entries,
    refusal,
    /** Returns false when a limit is exceeded, so that git is stopped. */
    take: (chunk: Buffer): boolean => {
      const lines = `${rest}${chunk.toString('latin1')}`.split('\0')
      rest = lines.pop() ?? ''
      for (const line of lines) read(line)
      return refusal() === null
    },
  }
}

const FOLDER = '040000'
const NOT_ASCII = /[\x80-\xff]/
/** Files that the engine loads by their ending. */
const CODE = /\.(?:tf|tofu|tfvars)(?:\.json)?$/

/** The engine opens such a file, of which no check of the platform could know: no text holds its name. */
const unreadableName = (path: string): PlatformError =>
  badRequest(
    `The name of '${path.replaceAll(/\p{Cc}/gu, '?')}' is not UTF-8, so that the platform cannot check the file: rename it.`,
  )
