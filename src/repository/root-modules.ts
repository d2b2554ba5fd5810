import { addRemote, Errors, fetch as fetchCommit, init } from 'isomorphic-git'
import { badGateway, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { createSlices, type Slices } from '../base/slices.ts'
import { waitUnlessAborted } from '../base/time.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { createGitHttp } from './git-http.ts'
import { credentials, readReachableHead } from './head.ts'
import { createMemoryFs } from './memory-fs.ts'
import { listFiles } from './pack/list-files.ts'
import { type PackObjects, readPack } from './pack/read-pack.ts'
import { type GitContext, loggableUri, remoteUrl } from './remote.ts'

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
    if (MARKER.test(name) || VARIABLE_SUFFIXES.some((suffix) => name.endsWith(suffix))) marked.add(directory)
    if (index % 1_024 === 0 && slices.due()) await slices.pause()
  }
  return { candidates, marked }
}

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

const MAX_PACK_BYTES = 48 * 1024 * 1024
/** Limit of all repository files: the pack, and little for configuration and references. */
const MAX_REPOSITORY_BYTES = MAX_PACK_BYTES + 1024 * 1024
const GITDIR = '/repository'
/** Location of the unread pack, outside the directory where the library looks for packs. */
const INCOMING_PACK = `${GITDIR}/incoming.pack`

/**
 * Fetches the newest commit of the default branch without history, and without file contents if the server supports it.
 * The library handles the protocol; the pack is read here, with limits and pauses for other requests.
 * @returns the hash of the commit, and the objects for `listFiles`
 * Errors: `Errors.HttpError` of the library; plain ones when the server refuses or its answer cannot be read.
 */
async function fetchNewestCommit(
  context: GitContext,
  uri: string,
  options: { timeoutMs: number; signal: AbortSignal; slices: Slices },
): Promise<{ commit: string; objects: PackObjects }> {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await createCheckedFetch(context, url, options.signal)
  const repository = { fs: createMemoryFs(MAX_REPOSITORY_BYTES), gitdir: GITDIR, cache: {} }
  await init({ ...repository, bare: true })
  await addRemote({ ...repository, remote: 'origin', url: url.href })
  const files = repository.fs.promises
  const takePack = (pack: Uint8Array) => files.writeFile(INCOMING_PACK, pack)
  const { fetchHead } = await fetchCommit({
    ...repository,
    http: createGitHttp(fetch, {
      ...options,
      maxBytes: MAX_PACK_BYTES,
      withPack: { take: takePack, slices: options.slices },
    }),
    url: url.href,
    depth: 1,
    singleBranch: true,
    tags: false,
    ...credentials(context, url),
  })
  if (!fetchHead) throw new Error('the repository is empty')
  const pack = await files.readFile(INCOMING_PACK)
  await files.unlink(INCOMING_PACK)
  return { commit: fetchHead, objects: await readPack(pack, options.slices) }
}
