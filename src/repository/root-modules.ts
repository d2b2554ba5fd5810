import { addRemote, Errors, fetch as fetchPack, init, readTree } from 'isomorphic-git'
import { badGateway, REPOSITORY_UNREACHABLE, repositoryUnreachable } from '../base/errors.ts'
import { createCheckedFetch } from './allowed-addresses.ts'
import { createGitHttp } from './git-http.ts'
import { credentials, readReachableHead } from './head.ts'
import { createMemoryFs } from './memory-fs.ts'
import { type GitContext, loggableUri, remoteUrl } from './remote.ts'

/** Clients give up after 50 s, so the answer, even if it is an error, has to come before that. */
const TOTAL_MS = 45_000

/**
 * Finds the engine root modules on the default branch of a repository.
 * @returns sorted POSIX paths, the repository root as `.`
 * Errors: 400 with a fixed text when the remote cannot be read or refuses the clone, 502 with the same text when
 * clone or scan fails for another reason or takes longer than 45 s.
 */
export async function findRootModules(context: GitContext, uri: string): Promise<string[]> {
  const deadline = AbortSignal.timeout(TOTAL_MS)
  try {
    return await Promise.race([scan(context, uri, deadline), rejectOnAbort(deadline)])
  } catch (error) {
    if (deadline.aborted) throw cloneFailed(context, uri, error)
    throw error
  }
}

async function scan(context: GitContext, uri: string, signal: AbortSignal): Promise<string[]> {
  await readReachableHead(context, uri, signal)
  try {
    const { repository, commit } = await fetchNewestCommit(context, uri, { timeoutMs: TOTAL_MS, signal })
    return commit ? selectRootModules(await listFiles(repository, commit, signal)) : []
  } catch (error) {
    throw cloneFailed(context, uri, error)
  }
}

function cloneFailed(context: GitContext, uri: string, error: unknown) {
  context.log.warn('repository could not be scanned', { repository: loggableUri(uri), reason: error })
  const refused = error instanceof Errors.HttpError && [401, 403, 404].includes(error.data.statusCode)
  return refused ? repositoryUnreachable(error) : badGateway(REPOSITORY_UNREACHABLE, error)
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

const MARKER_FILES = new Set(['main.tf', 'provider.tf', 'providers.tf', 'backend.tf', 'terraform.tf', 'versions.tf'])
const NEVER_ROOTS = new Set(['modules', 'examples', 'example', '.terraform'])

/**
 * Selects the directories that hold engine root modules, by the names of files alone. A directory with `.tf` files is
 * a root module when it has a marker file like `main.tf`, or when neither a directory above it is a root module nor
 * one below it has `.tf` files.
 * @param files POSIX paths relative to the repository root
 * @returns sorted by code point, the repository root as `.`
 */
export function selectRootModules(files: readonly string[]): string[] {
  const names = groupByDirectory(files)
  const candidates = [...names.keys()].filter((directory) => isCandidate(directory, names.get(directory) ?? []))
  const marked = new Set(candidates.filter((directory) => (names.get(directory) ?? []).some(isMarker)))
  const parents = new Set(candidates.flatMap(ancestors))
  const roots = new Set(marked)
  for (const directory of candidates) {
    const insideRoot = ancestors(directory).some((ancestor) => marked.has(ancestor))
    if (!parents.has(directory) && !insideRoot) roots.add(directory)
  }
  return [...roots].sort(byCodePoint)
}

function groupByDirectory(files: readonly string[]): Map<string, string[]> {
  const directories = new Map<string, string[]>()
  for (const file of files) {
    const slash = file.lastIndexOf('/')
    const directory = slash < 0 ? '.' : file.slice(0, slash)
    const names = directories.get(directory)
    if (names) names.push(file.slice(slash + 1))
    else directories.set(directory, [file.slice(slash + 1)])
  }
  return directories
}

/** The directories above a directory, the nearest one last, without the repository root. */
function ancestors(directory: string): string[] {
  const segments = directory.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

const isCandidate = (directory: string, names: string[]): boolean =>
  names.some((name) => name.endsWith('.tf')) && !directory.split('/').some((segment) => NEVER_ROOTS.has(segment))

const isMarker = (name: string): boolean =>
  MARKER_FILES.has(name) || name.endsWith('.tfvars') || name.endsWith('.tfvars.json')

/** Compares code points. The default order compares UTF-16 units, which sorts characters above U+FFFF differently. */
function byCodePoint(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)]
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

const MAX_PACK_BYTES = 48 * 1024 * 1024
const MAX_FILES = 500_000
const GITDIR = '/repository'

type Repository = { fs: ReturnType<typeof createMemoryFs>; gitdir: string; cache: object }

/**
 * Fetches the newest commit of the default branch into memory, without the contents of files if the server can leave
 * them out.
 * @returns the commit and the repository, for `listFiles`
 */
async function fetchNewestCommit(
  context: GitContext,
  uri: string,
  options: { timeoutMs: number; signal: AbortSignal },
) {
  const url = remoteUrl(context.config.git, uri)
  const fetch = await createCheckedFetch(context, url, options.signal)
  const repository: Repository = { fs: createMemoryFs(4 * MAX_PACK_BYTES), gitdir: GITDIR, cache: {} }
  await init({ ...repository, bare: true })
  await addRemote({ ...repository, remote: 'origin', url: url.href })
  const { fetchHead } = await fetchPack({
    ...repository,
    http: createGitHttp(fetch, { ...options, maxBytes: MAX_PACK_BYTES, blobless: true }),
    url: url.href,
    depth: 1,
    singleBranch: true,
    tags: false,
    ...credentials(context, url),
  })
  return { repository, commit: fetchHead }
}

/** All file paths of a commit, relative to the repository root. */
async function listFiles(repository: Repository, commit: string, signal: AbortSignal): Promise<string[]> {
  const files: string[] = []
  const pending = [{ oid: commit, prefix: '' }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    signal.throwIfAborted()
    const { tree } = await readTree({ ...repository, oid: next.oid })
    for (const entry of tree) {
      if (entry.type === 'tree') pending.push({ oid: entry.oid, prefix: `${next.prefix}${entry.path}/` })
      else files.push(next.prefix + entry.path)
    }
    if (files.length + pending.length > MAX_FILES) throw new Error(`the repository holds more than ${MAX_FILES} files`)
  }
  return files
}
