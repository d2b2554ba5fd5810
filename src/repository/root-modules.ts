import { Errors } from 'isomorphic-git'
import { badGateway, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { createSlices, type Slices } from '../base/slices.ts'
import { waitUnlessAborted } from '../base/time.ts'
import { fetchNewestCommit } from './fetch-newest-commit.ts'
import { readReachableHead } from './head.ts'
import { listFiles } from './pack/list-files.ts'
import { type GitContext, loggableUri } from './remote.ts'

/** Limit of the whole call: clients give up after 50 s, up to 10 s of which is queueing. */
const TOTAL_MS = 35_000

/**
 * Finds the engine root modules on the default branch of a repository.
 * @param signal aborts when the caller has disconnected
 * @returns sorted POSIX paths, the repository root as `.`
 * Errors: 400 with a fixed text when the remote cannot be read or refuses the clone, 502 with the same text when clone
 * or scan fails for another reason or takes longer than 35 s.
 */
export async function findRootModules(context: GitContext, uri: string, signal?: AbortSignal): Promise<string[]> {
  const timeout = AbortSignal.timeout(TOTAL_MS)
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout
  try {
    return await waitUnlessAborted(scan(context, uri, deadline), deadline)
  } catch (error) {
    if (deadline.aborted) throw cloneFailed(context, uri, error)
    throw error
  }
}

async function scan(context: GitContext, uri: string, signal: AbortSignal): Promise<string[]> {
  await readReachableHead(context, uri, signal)
  try {
    const slices = createSlices(signal)
    const { commit, objects } = await fetchNewestCommit(context, uri, { timeoutMs: TOTAL_MS, signal, slices })
    return await selectRootModules(await listFiles(objects, commit, { suffixes: ENGINE_SUFFIXES, slices }), slices)
  } catch (error) {
    throw cloneFailed(context, uri, error)
  }
}

function cloneFailed(context: GitContext, uri: string, error: unknown) {
  context.log.warn('repository could not be scanned', { repository: loggableUri(uri), reason: error })
  const refused = error instanceof Errors.HttpError && [401, 403, 404].includes(error.data.statusCode)
  return refused ? repositoryUnreachable(error) : badGateway(REPOSITORY_UNREACHABLE, error)
}

/** Code files; OpenTofu also reads `.tofu` files. */
const CODE = /\.(?:tf|tofu)$/
const MARKER = /^(?:main|providers?|backend|terraform|versions)\.(?:tf|tofu)$/
const NEVER_ROOTS = new Set(['modules', 'examples', 'example', '.terraform'])
const VARIABLE_SUFFIXES = ['.tfvars', '.tfvars.json']
/** Endings of the files that identify a root module. */
const ENGINE_SUFFIXES = ['.tf', '.tofu', ...VARIABLE_SUFFIXES]

/** Limits of the answer: directories, and characters of their paths together. */
const MAX_DIRECTORIES = 20_000
const MAX_CHARACTERS = 2 * 1024 * 1024

/**
 * Selects the directories with root modules by file names. A directory with code is a root when it has a marker file
 * like `main.tf`, or when no directory above it is a root and none below it has code.
 * @param files POSIX paths relative to the repository root
 * @returns sorted by code point, the repository root as `.`
 * Errors: a plain one when too many directories have code; the reason of the slices' signal.
 */
export async function selectRootModules(files: readonly string[], slices = createSlices()): Promise<string[]> {
  const found = await findDirectories(files, slices)
  const candidates = [...found.candidates]
  const characters = candidates.reduce((sum, { length }) => sum + length, 0)
  if (candidates.length > MAX_DIRECTORIES || characters > MAX_CHARACTERS)
    throw new Error(`more than ${MAX_DIRECTORIES} directories of the repository hold engine files`)
  const marked = new Set(candidates.filter((directory) => found.marked.has(directory)))
  const above = await findAbove(candidates, marked, slices)
  const roots = candidates.filter(
    (directory) => marked.has(directory) || !(above.parents.has(directory) || above.insideRoot.get(directory)),
  )
  return await sortByCodePoint(roots, slices)
}

/** Returns the directories with code, which are candidates, and the directories with a marker. */
async function findDirectories(files: readonly string[], slices: Slices) {
  const [engine, candidates, marked] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const [index, file] of files.entries()) {
    const slash = file.lastIndexOf('/')
    const directory = slash < 0 ? '.' : file.slice(0, slash)
    const name = file.slice(slash + 1)
    if (CODE.test(name) && !engine.has(directory)) {
      engine.add(directory)
      if (!directory.split('/').some((segment) => NEVER_ROOTS.has(segment))) candidates.add(directory)
    }
    if (isMarker(name)) marked.add(directory)
    if (index % 1_024 === 0 && slices.due()) await slices.pause()
  }
  return { candidates, marked }
}

const isMarker = (name: string): boolean =>
  MARKER.test(name) || VARIABLE_SUFFIXES.some((suffix) => name.endsWith(suffix))

/** Returns directories above candidates and candidates below a marked directory, except for the repository root. */
async function findAbove(candidates: readonly string[], marked: ReadonlySet<string>, slices: Slices) {
  const parents = new Set<string>()
  const insideRoot = new Map<string, boolean>()
  for (const candidate of candidates) {
    const path = [candidate]
    for (let next = parentOf(candidate); next !== null && !insideRoot.has(next); next = parentOf(next)) path.push(next)
    for (let directory = path.pop(); directory !== undefined; directory = path.pop()) {
      const parent = parentOf(directory)
      insideRoot.set(directory, parent !== null && (marked.has(parent) || insideRoot.get(parent) === true))
      if (parent !== null) parents.add(parent)
    }
    if (slices.due()) await slices.pause()
  }
  return { parents, insideRoot }
}

function parentOf(directory: string): string | null {
  const slash = directory.lastIndexOf('/')
  return slash < 0 ? null : directory.slice(0, slash)
}

/** Sorts by code point; the default order of UTF-16 units differs above U+FFFF. */
async function sortByCodePoint(texts: readonly string[], slices: Slices): Promise<string[]> {
  const keyed: { text: string; key: string }[] = []
  for (const text of texts) {
    keyed.push({ text, key: text.replaceAll(/[\ud800-\uffff]/g, shiftUnit) })
    if (slices.due()) await slices.pause()
  }
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ text }) => text)
}

/** Moves surrogates after all other units, and the others into their place. */
function shiftUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
}
