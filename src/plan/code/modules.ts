import { parseJson } from '../../base/json.ts'
import { joinUpwards } from '../../base/text.ts'
import { readHcl, textOf, withoutLayout } from '../../hcl/read.ts'

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

export const callOf = (folder: string, { labels: [name = ''], attributes }: CodeBlock): ModuleCall => ({
  folder,
  name,
  source: /^"([^"$%]*)"$/.exec(attributes.get('source') ?? '')?.[1] ?? '',
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

/** A top-level block of a file; its code has no comments and no layout. */
export interface CodeBlock {
  /** For example `resource`, `module`, `moved`. */
  kind: string
  labels: string[]
  body: string
  /** Expressions of the block's own attributes by name, without those of nested blocks. */
  attributes: Map<string, string>
}

/** Reads the top-level blocks of a file. A block that is never closed extends as far as it can. */
export function readCodeBlocks(code: string): CodeBlock[] {
  const text = code.replaceAll('\r\n', '\n')
  return readHcl(text).body.blocks.map(({ type, labels, body, bodyStart, bodyEnd }) => ({
    kind: type,
    labels,
    body: withoutLayout(text.slice(bodyStart, bodyEnd)),
    attributes: new Map(
      body.attributes.map(({ name, valueStart, end }) => [name, withoutLayout(text.slice(valueStart, end))]),
    ),
  }))
}

export const isJsonCode = (path: string): boolean => /\.(tf|tofu)\.json$/.test(path)

/** Parses a JSON object; empty for any other text. */
export const parseObject = (text: string): Record<string, unknown> => bodiesOf(parseJson(text))[0] ?? {}

/** Returns the bodies of blocks: the JSON syntax has one object or a list of them. */
export const bodiesOf = (value: unknown): Record<string, unknown>[] =>
  (Array.isArray(value) ? value : [value]).filter((body) => typeof body === 'object' && body !== null)

/** Returns the sources of the modules that a file calls. */
export function moduleSources({ path, text }: { path: string; text: string | null }): string[] {
  if (text === null) return []
  if (!isJsonCode(path))
    return readHcl(text).body.blocks.flatMap(({ type, body }) => (type === 'module' && textOf(body, 'source')) || [])
  const modules = bodiesOf(parseObject(text).module).flatMap((body) => Object.values(body).flatMap(bodiesOf))
  return modules.flatMap(({ source }) => (typeof source === 'string' ? [source] : []))
}
