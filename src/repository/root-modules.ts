import { badGateway, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { createSlices } from '../base/slices.ts'
import { waitUnlessAborted } from '../base/time.ts'
import { fetchNewestCommit, fetchObjects } from './clone.ts'
import { refusalOf } from './git-http.ts'
import { readReachableHead } from './head.ts'
import { listFiles, type RepositoryFile } from './pack/list-files.ts'
import { PACK_LIMITS, type PackObjects, readPack } from './pack/read-pack.ts'
import { type GitContext, loggableUri, remoteUrl, repositoryName } from './remote.ts'
import { selectRootModules, sortByCodePoint } from './roots/by-name.ts'
import { classifyRoots, ROOT_KINDS, type RootModule } from './roots/classify.ts'
import { FOLDER_SUFFIXES, needsContents, readFolders } from './roots/folders.ts'
import { type CodeProvider, findProviders } from './roots/providers.ts'
import { findTools, TOOL_SUFFIXES, type Tool } from './roots/tools.ts'

/** Limit of the whole call: clients give up after 50 s, up to 10 s of which is queueing. */
const TOTAL_MS = 35_000
/** Time from the start of the call after which file contents are given up, so that the names are still answered. */
const CONTENTS_MS = 30_000

/** Limits of the contents that are read: bytes of one file, and files. */
const MAX_FILE_BYTES = 256 * 1024
const MAX_FILES = 20_000

/** The content of a repository that concerns an engine. */
export interface RepositorySurvey {
  /** Root modules by the names of files: sorted POSIX paths, the repository root as `.`. */
  roots: string[]
  /**
   * Root modules by their contents, examples and tests last; null when the contents could not be had in time and size.
   */
  rootModules: RootModule[] | null
  /** Files that are too large to be read or links to nowhere: `rootModules` may be wrong about their folders. */
  unreadFiles: number
  /** What the code needs of providers; null when the contents could not be had. */
  providers: CodeProvider[] | null
  tools: Tool[]
}

/**
 * Finds the engine root modules on the default branch of a repository.
 * @param signal aborts when the caller has disconnected
 * Errors: 400 with a fixed text when the remote cannot be read or refuses the clone, 502 with the same text when clone
 * or scan fails for another reason or takes longer than 35 s.
 */
export async function findRootModules(
  context: GitContext,
  uri: string,
  signal?: AbortSignal,
): Promise<RepositorySurvey> {
  const timeout = AbortSignal.timeout(TOTAL_MS)
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout
  const contentsDeadline = AbortSignal.any([deadline, AbortSignal.timeout(CONTENTS_MS)])
  try {
    return await waitUnlessAborted(survey(context, uri, { signal: deadline, contentsDeadline }), deadline)
  } catch (error) {
    if (deadline.aborted) throw cloneFailed(context, uri, error)
    throw error
  }
}

async function survey(
  context: GitContext,
  uri: string,
  { signal, contentsDeadline }: { signal: AbortSignal; contentsDeadline: AbortSignal },
): Promise<RepositorySurvey> {
  await readReachableHead(context, uri, signal)
  try {
    const slices = createSlices(signal)
    const options = { timeoutMs: TOTAL_MS, signal, slices }
    const { commit, pack, isFiltered } = await fetchNewestCommit(context, uri, { ...options, filter: 'blob:none' })
    const suffixes = [...FOLDER_SUFFIXES, ...TOOL_SUFFIXES]
    const files = await listFiles(await readPack(pack, slices), commit, { suffixes, slices })
    const paths = files.map(({ path }) => path)
    const roots = await selectRootModules(paths, slices)
    const read = readContents(context, uri, { files, pack: isFiltered ? null : pack, signal: contentsDeadline })
    const found = await waitUnlessAborted(read, contentsDeadline).catch((error: unknown) => {
      signal.throwIfAborted()
      context.log.warn('files of the repository could not be read', { repository: loggableUri(uri), reason: error })
      return { rootModules: null, unreadFiles: 0, providers: null }
    })
    return { roots, ...found, tools: findTools(paths) }
  } catch (error) {
    throw cloneFailed(context, uri, error)
  }
}

function cloneFailed(context: GitContext, uri: string, error: unknown) {
  context.log.warn('repository could not be scanned', { repository: loggableUri(uri), reason: error })
  const refused = [401, 403, 404].includes(refusalOf(error) ?? 0)
  return refused ? repositoryUnreachable(error) : badGateway(REPOSITORY_UNREACHABLE, error)
}

/** Finds the root modules by contents. `pack` has all contents, or is null when they must be fetched. */
async function readContents(
  context: GitContext,
  uri: string,
  { files, pack, signal }: { files: readonly RepositoryFile[]; pack: Uint8Array | null; signal: AbortSignal },
): Promise<Pick<RepositorySurvey, 'rootModules' | 'unreadFiles' | 'providers'>> {
  const slices = createSlices(signal)
  const needed = files.filter(needsContents)
  if (needed.length > MAX_FILES) throw new Error(`more than ${MAX_FILES} files of the repository would be read`)
  const hashes = [...new Set(needed.map(({ hash }) => hash))]
  const objects = pack || hashes.length === 0 ? null : await fetchContents(context, uri, { hashes, signal })
  const contents: PackObjects = objects ?? (pack ? await readFiles(pack, slices) : new Map())
  const read = ({ hash }: RepositoryFile): string | null => {
    const object = contents.get(hash)
    return object?.kind === 'blob' ? new TextDecoder().decode(object.contents) : null
  }
  const name = repositoryName(remoteUrl(context.config.git, uri))
  const { folders, unread } = await readFolders(files, { name, read, slices })
  const found = classifyRoots(folders, name)
  const byPath = new Map(found.map((root) => [root.path, root]))
  const sorted = await sortByCodePoint([...byPath.keys()], slices)
  const rootModules = ROOT_KINDS.flatMap((kind) =>
    sorted.filter((path) => byPath.get(path)?.kind === kind).map((path) => ({ path, kind })),
  )
  return { rootModules, unreadFiles: unread, providers: findProviders(folders.values()) }
}

const readFiles = (pack: Uint8Array, slices: ReturnType<typeof createSlices>): Promise<PackObjects> =>
  readPack(pack, slices, { ...PACK_LIMITS, fileBytes: MAX_FILE_BYTES })

/**
 * Fetches file contents by their hashes, or else from a server that does not allow it the commit with all small files.
 */
async function fetchContents(
  context: GitContext,
  uri: string,
  { hashes, signal }: { hashes: readonly string[]; signal: AbortSignal },
): Promise<PackObjects> {
  const slices = createSlices(signal)
  const options = { timeoutMs: CONTENTS_MS, signal, slices }
  const pack = await fetchObjects(context, uri, hashes, options).catch(async (error: unknown) => {
    signal.throwIfAborted()
    context.log.info('files of the repository are fetched with its commit', {
      repository: loggableUri(uri),
      reason: error,
    })
    return (await fetchNewestCommit(context, uri, { ...options, filter: `blob:limit=${MAX_FILE_BYTES}` })).pack
  })
  return await readFiles(pack, slices)
}
