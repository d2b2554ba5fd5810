import { readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { joinPath } from '../../../src/base/text.ts'
import { readHeaders } from '../../../src/repository/roots/headers.ts'
import { type EngineKind, isForOpenTofu, loadedNames } from '../../../src/repository/roots/loaded-names.ts'
import type { Workspace } from '../workspace.ts'
import { isInside } from './confine.ts'
import { readWhole } from './private-files.ts'

/** What an engine reads of a clone when it is run in a root. Real POSIX paths, relative to the clone. */
export interface LoadedCode {
  /** The root, empty for that of the repository. */
  root: string
  /** Files with code of the root and of the local modules that it calls, also of modules beside or above it. */
  files: ReadonlySet<string>
  /** The folders of the root and of these modules. */
  folders: ReadonlySet<string>
  /** Files and folders that this code names, for example in `file` or after `path.module`. */
  references: ReadonlySet<string>
  /** False when a file or a source could not be read, so that more may be loaded. */
  isWhole: boolean
}

/** Limits of what is read. */
const MAX_BYTES = 512 * 1024
const MAX_FOLDERS = 2_000

/**
 * Finds the code that an engine loads: files of the root, and of folders that are called by a local `source`. Links are
 * followed inside of the clone.
 * @param provide is called with folders, relative to the clone, before they are looked at
 */
export async function findLoadedCode(
  { clone, iacRoot }: Pick<Workspace, 'clone' | 'iacRoot'>,
  engine: EngineKind,
  provide: (folders: readonly string[]) => Promise<void> = async () => {},
): Promise<LoadedCode> {
  const top = await realpath(clone)
  const nameOf = (path: string) => relative(top, path).split(sep).join('/')
  const root = nameOf(await realpath(iacRoot))
  const [files, folders, references] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let isWhole = true
  let called: string[] = []
  const take = async (folder: string, name: string): Promise<void> => {
    const path = await realpath(join(top, folder, name)).catch(() => null)
    const text = path !== null && isInside(top, path) ? await readCode(path) : null
    const headers = text === null ? null : readHeaders(name.endsWith('.json') ? 'json' : 'native', text)
    if (path !== null) files.add(nameOf(path))
    if (text !== null) for (const reference of referencesIn(text, { folder, root })) references.add(reference)
    if (headers === null) isWhole = false
    for (const source of headers?.sources ?? []) {
      const module = /^\.\.?(?:\/|$)/.test(source) ? joinPath(folder, source) : null
      if (module !== null) called.push(module)
      else if (source.includes('${') || source.startsWith('var.') || source.startsWith('local.')) isWhole = false
    }
  }
  for (let level = [root]; level.length > 0; level = called) {
    called = []
    await provide(level)
    for (const next of level) {
      const path = await realpath(join(top, next)).catch(() => null)
      if (path === null || !isInside(top, path)) continue
      const folder = nameOf(path)
      if (folders.has(folder)) continue
      if (folders.size === MAX_FOLDERS) return { root, files, folders, references, isWhole: false }
      folders.add(folder)
      for (const name of loadedNames(await readdir(path).catch(() => []), engine)) await take(folder, name)
    }
  }
  return { root, files, folders, references, isWhole }
}

const readCode = (path: string): Promise<string | null> => readWhole(path, MAX_BYTES)

const FROM_FOLDER = /\$\{\s*path\.(module|root|cwd)\s*\}\/*([^"$%\\]*)(["$%\\])/g
const FROM_ROOT = /\b(?:file\w*|templatefile)\(\s*"([^"$%\\]+)"/g
/** Other paths, for example of a chart; those of modules are relative to their own folder. */
const RELATIVE = /(?<!\bsource\s*=\s*)"(\.\.?\/[^"$%\\\n]*)(["$%\\])/g

/**
 * Returns what a file names: paths after `path.module`, `path.root` and `path.cwd`, literal arguments of functions that
 * read files, and texts that begin with `./` or `../`. A path that goes on with an expression stands for the folder
 * before it, unless that is all.
 */
function referencesIn(text: string, { folder, root }: { folder: string; root: string }): string[] {
  // In the JSON form a backslash stands before the quote that ends the path.
  const known = (written: string, next = '') =>
    next === '"' || next === '\\' ? written : written.slice(0, written.lastIndexOf('/') + 1)
  const found = [...text.matchAll(FROM_FOLDER)].flatMap(([, base, written = '', next]) => {
    const path = known(written, next)
    return path === '' ? [] : [joinPath(base === 'module' ? folder : root, path)]
  })
  const literal = [...text.matchAll(FROM_ROOT)].map(([, path = '']) => joinPath(root, path))
  const relative = [...text.matchAll(RELATIVE)].map(([, path = '', next]) => joinPath(root, known(path, next)))
  return [...found, ...literal, ...relative].flatMap((path) =>
    path === null || path === folder || path === root ? [] : [path],
  )
}

/** Reports whether loaded code names a file, or a folder around it. */
export function isReferred({ references }: LoadedCode, path: string): boolean {
  for (let part = path; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('/'))))
    if (references.has(part)) return true
  return false
}

/** The files directly in a root, by name. */
export interface RootFolder {
  names: string[]
  /** Files with code that the engine loads. */
  loaded: string[]
  /** Files with resources, data sources or module calls that Terraform does not load and has no `.tf` file for. */
  forOpenTofu: string[]
}

const OBJECTS = ['resource', 'data', 'module', 'ephemeral'] as const

/** Reads what a root holds. Null when it cannot be read. */
export async function readRootFolder(
  { iacRoot }: Pick<Workspace, 'iacRoot'>,
  engine: EngineKind,
): Promise<RootFolder | null> {
  const names = await readdir(iacRoot).catch(() => null)
  if (names === null) return null
  const forOpenTofu: string[] = []
  for (const name of engine === 'terraform' ? names.filter(isForOpenTofu) : []) {
    if (names.includes(name.replace(/\.tofu(\.json)?$/, '.tf$1'))) continue
    const text = await readCode(join(iacRoot, name))
    const headers = text === null ? null : readHeaders(name.endsWith('.json') ? 'json' : 'native', text)
    if (OBJECTS.some((type) => headers?.types.has(type))) forOpenTofu.push(name)
  }
  return { names, loaded: loadedNames(names, engine), forOpenTofu }
}
