import type { CodeBlock } from './blocks.ts'

/** A file of the engine root that was read. Paths are relative to the root, with slashes. */
export interface CodeFile {
  path: string
  text: string
}

export interface ModuleCall {
  /** Folder of the calling file; empty for the root. */
  folder: string
  name: string
  /** As the code has it; empty when it is no constant. */
  source: string
}

export const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/')

export const callOf = (folder: string, { labels: [name = ''], attributes }: CodeBlock): ModuleCall => ({
  folder,
  name,
  source: /^"([^"$%]*)"$/.exec(attributes.get('source') ?? '')?.[1] ?? '',
})

/** Deepest nesting of modules and most paths that are followed; code whose modules call each other has no end. */
const MAX_DEPTH = 12
const MAX_PATHS = 1_000

/**
 * Addresses under which the root calls the module of each folder: `module.a.module.b` without indexes. The root itself
 * has the empty address. A folder that nothing calls is left out.
 */
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

/** The address in a module, as the root writes it. */
export const within = (module: string, address: string): string => (module === '' ? address : `${module}.${address}`)

/** The folder that a local source means; null for any other source and for a folder outside of the root. */
function resolveFolder(folder: string, source: string): string | null {
  if (!/^\.\.?(\/|$)/.test(source)) return null
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of source.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return parts.join('/')
}
