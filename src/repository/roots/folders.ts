import type { Slices } from '../../base/slices.ts'
import { joinPath } from '../../base/text.ts'
import type { RepositoryFile } from '../pack/list-files.ts'
import { type BlockType, type FileForm, type Headers, readHeaders } from './headers.ts'
import { isEngineCode } from './loaded-names.ts'

/** A folder with code that the engine loads. */
export interface Folder {
  path: string
  /** Types of its top-level blocks. */
  types: Set<BlockType>
  hasBackend: boolean
  hasLockFile: boolean
  hasValues: boolean
  /** True with a `terragrunt.hcl` beside the code. */
  isUnit: boolean
  /** Folders of this repository that it calls as modules, and that call it. */
  calls: Set<string>
  callers: Set<string>
  /** True if a test file calls it. */
  isTested: boolean
  /** Sources of its providers by their names in it; null where it states none. */
  providers: Map<string, string | null>
}

const VALUES = /\.tfvars(?:\.json)?$/
const TEST = /\.(?:tftest|tofutest)\.(?:hcl|json)$/
const LOCK_FILE = '.terraform.lock.hcl'
const UNIT = /^terragrunt\.hcl(?:\.json)?$/
/** Files of tests, stacks, Terragrunt and CDKTF, which call modules. */
const OTHER_CALLER = /\.hcl(?:\.json)?$|^cdktf\.json$|\.(?:tftest|tofutest|tfstack|tfcomponent)\.json$/
const CACHE = /(?:^|\/)\.terra(?:form|grunt-cache)(?:\/|$)/

/** Endings of the names of all files that `readFolders` looks at. */
export const FOLDER_SUFFIXES: readonly string[] = [
  ...['.tf', '.tofu', '.tf.json', '.tofu.json', '.tfvars', '.tfvars.json', '.hcl', '.hcl.json'],
  ...['.tftest.json', '.tofutest.json', '.tfstack.json', '.tfcomponent.json', 'cdktf.json'],
]

/** Reports whether `readFolders` needs the contents of a file. */
export function needsContents({ path, isLink }: RepositoryFile): boolean {
  const { folder, name } = partPath(path)
  return (
    !name.endsWith(LOCK_FILE) && !CACHE.test(folder) && (isEngineCode(name) || (OTHER_CALLER.test(name) && !isLink))
  )
}

/** Limit of calls; far beyond real repositories. */
const MAX_CALLS = 200_000
/** Links of links that are followed. */
const MAX_LINKS = 8

/** A call of a module; `from` is null for a test file, which makes no module of what it runs. */
interface Call {
  from: string | null
  /** Folder to which its source is relative. */
  base: string
  source: string
}

/**
 * Reads the folders with code, and which of them call each other as modules.
 * @param read returns the contents of a file, of a link its target; null when they are not known
 * @returns the folders by path, and how many files could not be read
 * Errors: a plain one for too many calls; the reason of the slices' signal.
 */
export async function readFolders(
  files: readonly RepositoryFile[],
  { name, read, slices }: { name: string; read: (file: RepositoryFile) => string | null; slices: Slices },
): Promise<{ folders: Map<string, Folder>; unread: number }> {
  const folders = new Map<string, Folder>()
  const byPath = new Map(files.map((file) => [file.path, file]))
  const known = new Map<string, Headers | null>()
  const calls: Call[] = []
  let unread = 0
  const headersOf = (file: RepositoryFile, fileName: string): Headers | null => {
    const form = formOf(fileName)
    const key = `${form} ${file.hash}`
    const text = known.has(key) ? null : read(file)
    if (!known.has(key)) known.set(key, text === null ? null : readHeaders(form, text))
    return known.get(key) ?? null
  }
  for (const file of files) {
    if (slices.due()) await slices.pause()
    if (!needsContents(file)) continue
    const { folder, name: fileName } = partPath(file.path)
    const source = followLinks(file, byPath, read)
    const headers = source && headersOf(source, fileName)
    if (isEngineCode(fileName)) addCode(folders, folder, headers)
    if (headers === null) unread++
    else calls.push(...callsOf(folder, fileName, headers))
    if (calls.length > MAX_CALLS) throw new Error(`the repository calls more than ${MAX_CALLS} modules`)
  }
  for (const { path } of files) addNeighbour(folders, path)
  for (const { from, base, source } of calls) {
    if (slices.due()) await slices.pause()
    const path = resolveSource(source, base, { name, folders })
    const called = path === null || path === from ? undefined : folders.get(path)
    if (!called) continue
    if (from === null) called.isTested = true
    else {
      called.callers.add(from)
      folders.get(from)?.calls.add(called.path)
    }
  }
  return { folders, unread }
}

function formOf(fileName: string): FileForm {
  if (fileName === 'cdktf.json') return 'cdktf'
  return fileName.endsWith('.json') ? 'json' : 'native'
}

/** Returns the file to which a link leads; null when that is not known. */
function followLinks(
  file: RepositoryFile,
  byPath: ReadonlyMap<string, RepositoryFile>,
  read: (file: RepositoryFile) => string | null,
): RepositoryFile | null {
  let next: RepositoryFile | undefined = file
  for (let steps = 0; next?.isLink && steps < MAX_LINKS; steps++) {
    const path = joinPath(partPath(next.path).folder, read(next) ?? '')
    next = path === null ? undefined : byPath.get(path)
  }
  return next && !next.isLink ? next : null
}

function addCode(folders: Map<string, Folder>, path: string, headers: Headers | null): void {
  const folder: Folder = folders.get(path) ?? {
    ...{ path, types: new Set(), hasBackend: false, hasLockFile: false, hasValues: false, isUnit: false },
    ...{ calls: new Set(), callers: new Set(), isTested: false, providers: new Map() },
  }
  folders.set(path, folder)
  folder.hasBackend ||= headers?.hasBackend === true
  for (const type of headers?.types ?? []) folder.types.add(type)
  for (const [name, source] of headers?.providers ?? [])
    folder.providers.set(name, source ?? folder.providers.get(name) ?? null)
}

/** Notes a file that stands beside code. */
function addNeighbour(folders: ReadonlyMap<string, Folder>, path: string): void {
  const { folder, name } = partPath(path)
  const found = folders.get(folder)
  if (!found) return
  found.hasLockFile ||= name.endsWith(LOCK_FILE)
  found.hasValues ||= VALUES.test(name)
  found.isUnit ||= UNIT.test(name)
}

function callsOf(folder: string, fileName: string, { sources }: Headers): Call[] {
  if (!TEST.test(fileName)) return sources.map((source) => ({ from: folder, base: folder, source }))
  // A test reads paths from the folder under test, which is its own or the one above.
  const bases = [folder, partPath(folder).folder]
  return sources.flatMap((source) => bases.map((base) => ({ from: null, base, source })))
}

function partPath(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf('/')
  return { folder: slash < 0 ? '.' : path.slice(0, slash), name: path.slice(slash + 1) }
}

/** The repository in which sources are resolved: the last part of its address, and its folders with code. */
interface SourceContext {
  name: string
  folders: ReadonlyMap<string, unknown>
}

/**
 * Resolves the source of a called module to a folder of the same repository.
 * @param source as written; an expression with its quotes
 * @param folder where the call stands
 * @returns the path of the folder; null for a module elsewhere and a folder without code
 */
function resolveSource(source: string, folder: string, context: SourceContext): string | null {
  // Terragrunt reads a relative path after `git::` too.
  const plain = source.replace(/^git::(?=\.)/, '').replace(/\?.*$/s, '')
  if (plain.includes('${')) return resolveRest(plain, context)
  // Before version 0.12, a local path needed no `./`.
  const within = /^\.\.?(?:\/|$)/.test(plain) ? null : pathWithin(plain, context.name)
  const found = within ?? joinPath(folder, plain)
  const path = found === '' ? '.' : found
  return path !== null && context.folders.has(path) ? path : null
}

/** Resolves what follows the last template of an expression: to that folder, or to the only one that ends so. */
function resolveRest(source: string, { folders }: SourceContext): string | null {
  const rest = joinPath('', source.slice(source.lastIndexOf('}') + 1).replace(/^(?:\.|\/)+|"$/g, ''))
  if (!rest) return null
  if (folders.has(rest)) return rest
  let only: string | null = null
  for (const folder of folders.keys()) {
    if (!folder.endsWith(`/${rest}`)) continue
    if (only !== null) return null
    only = folder
  }
  return only
}

/** Returns the path that a git or registry source names within the repository of this name; null for another one. */
function pathWithin(source: string, name: string): string | null {
  const start = source.indexOf('://') + 1
  const split = source.indexOf('//', start === 0 ? 0 : start + 2)
  const address = split < 0 ? source : source.slice(0, split)
  const parts = address
    .toLowerCase()
    .replace(/\.git$/, '')
    .split(/[/:]/)
  const [module, provider] = parts.slice(-2)
  const isOwn = parts.length > 2 && (provider === name || `terraform-${provider}-${module}` === name)
  return isOwn ? joinPath('', split < 0 ? '' : source.slice(split)) : null
}
