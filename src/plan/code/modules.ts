import { joinUpwards } from '../../base/text.ts'
import { type CodeBlock, isCodePath, readBlocks } from './blocks.ts'

/** A file of the engine root; paths are relative to the root, with slashes. */
export interface CodeFile {
  path: string
  text: string
}

export interface ModuleCall {
  /** Folder of the calling file; empty for the root. */
  folder: string
  name: string
  /** The literal source; empty when it is not constant. */
  source: string
}

export const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/')

export const callOf = (folder: string, { labels: [name = ''], arguments: given }: CodeBlock): ModuleCall => ({
  folder,
  name,
  source: given.get('source')?.text ?? '',
})

/** Limits of nesting and of paths, because modules may call each other endlessly. */
const MAX_DEPTH = 12
const MAX_PATHS = 1_000

/** Returns the addresses of each called folder, such as `module.a.module.b`; the root's is empty. */
export function modulePaths(calls: readonly ModuleCall[]): Map<string, string[]> {
  const byFolder = Map.groupBy(calls, ({ folder }) => folder)
  const paths = new Map<string, string[]>()
  let level = [{ folder: '', address: '' }]
  let found = 0
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && found < MAX_PATHS; depth++) {
    for (const { folder, address } of level) paths.set(folder, [...(paths.get(folder) ?? []), address])
    found += level.length
    level = level.flatMap(({ folder, address }) =>
      (byFolder.get(folder) ?? []).flatMap(({ name, source }) => {
        const called = resolveFolder(folder, source)
        return called === null ? [] : [{ folder: called, address: within(address, `module.${name}`) }]
      }),
    )
  }
  return paths
}

/** Returns an address in a module as seen from the root. */
export const within = (module: string, address: string): string => (module === '' ? address : `${module}.${address}`)

/** Resolves a local source; null for any other. A folder outside of the root begins with `..`. */
export const resolveFolder = (folder: string, source: string): string | null =>
  /^\.\.?(\/|$)/.test(source) ? joinUpwards(folder, source) : null

/** Returns the sources of the modules that a file calls. */
export const moduleSources = ({ path, text }: { path: string; text: string | null }): string[] =>
  text === null || !isCodePath(path)
    ? []
    : readBlocks(path, text).blocks.flatMap(
        ({ kind, arguments: given }) => (kind === 'module' && given.get('source')?.text) || [],
      )
