import type { BigIntStats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProcessOutput } from '../../../src/runtime/run-process.ts'
import type { LocalGit } from './git.ts'
import type { GitPlace } from './place.ts'

/**
 * Commands that list and compare, and whose result depends on nothing but their arguments, the files, the index and the
 * commits. Questions about one path are seldom asked again.
 */
const READS = ['ls-files', 'diff']
/** Reads objects, whose names are those of their content. */
const READS_OBJECTS = 'cat-file'
/** Commands that change neither files nor index nor the branch. */
const CHANGES_NOTHING = [
  'check-ignore',
  'check-attr',
  'cat-file',
  'rev-parse',
  'merge-base',
  'ls-tree',
  'diff-tree',
  'status',
  'ls-remote',
  'push',
]

/** A walk over more files costs more than the processes that it saves. */
const MAX_FILES = 300
const MAX_ENTRIES = 200
/** Maximum length of a result that is kept, in characters or bytes. */
const MAX_RESULT = 1024 * 1024
/**
 * A file of the clone that changed so recently may change again within one step of the file system's clock, which is at
 * most 10 ms. Git writes its own files anew each time, so that their numbers change.
 */
const SETTLED_MS = 20
const WALKERS = 32

interface Remembered {
  stamp: string
  output: ProcessOutput
  chunks: Buffer[]
}

/**
 * Wraps the git of a clone so that a listing or comparison is not repeated while files and index are as they were: its
 * result is kept with time, size and number of each file, and given again as long as all of them are the same. A clone
 * of many files is read anew each time.
 * @param isIrrelevant true for names of files and folders that no such command is asked for
 */
export function rememberReadings(git: LocalGit, place: GitPlace, isIrrelevant: (name: string) => boolean): LocalGit {
  const known = new Map<string, Remembered>()
  const takeStamp = createStamp(place, isIrrelevant)
  const keep = (key: string, entry: Remembered) => {
    known.delete(key)
    known.set(key, entry)
    for (const oldest of known.keys()) {
      if (known.size <= MAX_ENTRIES) return
      known.delete(oldest)
    }
  }
  return async (args, options = {}) => {
    const command = args.find((one) => !one.startsWith('-')) ?? ''
    const isAboutPaths = args[0] === '--literal-pathspecs'
    const isRead = READS.includes(command) && !isAboutPaths
    const readsObjects = command === READS_OBJECTS && args.includes('--batch')
    if (!isRead && !readsObjects) {
      if (isAboutPaths || CHANGES_NOTHING.includes(command)) return await git(args, options)
      known.clear()
      return await git(args, options).finally(() => known.clear())
    }
    options.signal?.throwIfAborted()
    const stamp = isRead ? await takeStamp() : ''
    if (stamp === null) return await git(args, options)
    const { cwd = place.workTree, input = '', maxOutput, consume } = options
    const key = JSON.stringify([args, cwd, input, maxOutput, consume !== undefined])
    const before = known.get(key)
    if (before?.stamp === stamp) {
      // A consumer that has enough stops the command.
      const isEnough = before.chunks.some((chunk) => !consume?.(chunk))
      return { ...before.output, stopped: isEnough ? 'output' : null }
    }
    const chunks: Buffer[] = []
    let bytes = 0
    const collect = (chunk: Buffer): boolean => {
      bytes += chunk.length
      if (bytes <= MAX_RESULT) chunks.push(chunk)
      return consume?.(chunk) ?? true
    }
    const output = await git(args, consume ? { ...options, consume: collect } : options)
    const length = bytes + output.stdout.length + output.stderr.length + input.length
    // An object that is missing may be fetched.
    const isMissing = readsObjects && (consume === undefined || Buffer.concat(chunks).includes(' missing\n'))
    const isWhole = output.stopped === null && output.code !== null && length <= MAX_RESULT
    if (isWhole && !isMissing) keep(key, { stamp, output, chunks })
    return { ...output }
  }
}

/** Returns a function that tells the present state of files and index; null where it cannot be told well enough. */
function createStamp(place: GitPlace, isIrrelevant: (name: string) => boolean): () => Promise<string | null> {
  let next: Promise<string | null> | null = null
  // A clone that is too large stays so: it is not walked again.
  let isTooLarge = false
  const walk = async (): Promise<string | null> => {
    // Those who ask from now on may mean a later state.
    next = null
    const parts = await walkFiles(place, isIrrelevant)
    isTooLarge = parts === null
    return parts && isSettled(parts) ? parts.map(({ text }) => text).join('\n') : null
  }
  return async () => {
    if (isTooLarge) return null
    // Callers of the same turn share one walk, which begins after all of them have asked.
    next ??= Promise.resolve().then(walk)
    return await next.catch(() => null)
  }
}

interface Part {
  text: string
  changed: number
}

const partOf = (path: string, { mode, size, ino, mtimeNs, ctimeNs }: BigIntStats): Part => ({
  text: `${path}\0${mode} ${size} ${ino} ${mtimeNs} ${ctimeNs}`,
  changed: path.startsWith(OWN) ? 0 : Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n),
})

/** Begins the names of git's own files; no path begins with it. */
const OWN = '/git/'

const isSettled = (parts: readonly Part[]): boolean => {
  const latest = Date.now() - SETTLED_MS
  return parts.every(({ changed }) => changed < latest)
}

/** Describes each file of the clone, the index and git's own rules, in a fixed order; null for too many files. */
async function walkFiles(
  { directory, workTree }: GitPlace,
  isIrrelevant: (name: string) => boolean,
): Promise<Part[] | null> {
  const files: string[] = []
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(join(workTree, folder), { withFileTypes: true })) {
      if (isIrrelevant(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      files.push(path)
      if (files.length > MAX_FILES) return null
      if (entry.isDirectory()) folders.push(path)
    }
  }
  const describe = async (path: string, name: string) => partOf(name, await lstat(path, { bigint: true }))
  const parts: Part[] = []
  for (let start = 0; start < files.length; start += WALKERS) {
    const some = files.slice(start, start + WALKERS)
    parts.push(...(await Promise.all(some.map((path) => describe(join(workTree, path), path)))))
  }
  const own = ['index', 'HEAD', 'info/exclude', 'info/attributes']
  const found = await Promise.all(own.map((name) => describe(join(directory, name), `${OWN}${name}`).catch(() => [])))
  return [...parts, ...found.flat()].sort((a, b) => (a.text < b.text ? -1 : 1))
}
