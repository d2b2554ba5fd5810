import { folderOf, resolveFolder } from '../../plan/code/modules.ts'
import { assignedNames } from '../../plan/code/variable-files.ts'
import { declaredBlocksIn, isValues, moduleSources } from './declared-blocks.ts'

/** A file of code with its text; its path is relative to the engine root. */
export interface CodeFile {
  path: string
  text: string
}

/** Maximum steps along references from the starting files. */
const MAX_STEPS = 2
/** Names that more files use, such as common tags, are not followed. */
const MAX_USERS = 8

const REFERENCE =
  /(?<![\w.-])(?:(var|local|module)\.([A-Za-z_][\w-]*)|(data\.)?([a-z][a-z0-9]*_[a-z0-9_]+)\.([A-Za-z_][\w-]*))/g

interface Links {
  declares: string[]
  uses: string[]
  /** Folders of the modules that the file calls. */
  calls: string[]
}

/**
 * Follows references of blocks from the starting files and returns the reached files with their number of steps, 0 for
 * the start. Two steps lead to what a file uses: variables, locals, resources and module folders; one step leads from a
 * start to files that use its declarations. Takes time linear in the length of the files.
 */
export function reachFiles(files: readonly CodeFile[], starts: readonly string[]): Map<string, number> {
  const index = buildIndex(files)
  const steps = new Map(starts.filter((path) => index.links.has(path)).map((path) => [path, 0]))
  for (const start of [...steps.keys()]) for (const path of usersOf(index, start)) addStep(steps, path, 1)
  // A map is iterated in insertion order, so that files added here follow later.
  for (const [path, step] of steps)
    if (step < MAX_STEPS) for (const next of usedBy(index, path)) addStep(steps, next, step + 1)
  return steps
}

function addStep(steps: Map<string, number>, path: string, step: number): void {
  if (!steps.has(path)) steps.set(path, step)
}

interface Index {
  links: Map<string, Links>
  /** Paths by declaration, by use, by folder, and by folder of a called module. */
  declaring: Map<string, string[]>
  using: Map<string, string[]>
  inFolder: Map<string, string[]>
  calling: Map<string, string[]>
}

function buildIndex(files: readonly CodeFile[]): Index {
  const index: Index = {
    links: new Map(),
    declaring: new Map(),
    using: new Map(),
    inFolder: new Map(),
    calling: new Map(),
  }
  for (const file of files) {
    const links = readLinks(file)
    index.links.set(file.path, links)
    addTo(index.inFolder, folderOf(file.path), file.path)
    for (const name of links.declares) addTo(index.declaring, name, file.path)
    for (const name of links.uses) addTo(index.using, name, file.path)
    for (const folder of links.calls) addTo(index.calling, folder, file.path)
  }
  return index
}

function addTo(map: Map<string, string[]>, key: string, path: string): void {
  const paths = map.get(key)
  if (paths) paths.push(path)
  else map.set(key, [path])
}

function usedBy({ links, declaring, inFolder }: Index, path: string): string[] {
  const { uses, calls } = links.get(path) ?? { uses: [], calls: [] }
  return [
    ...uses.flatMap((name) => declaring.get(name) ?? []),
    ...calls.flatMap((folder) => (inFolder.get(folder) ?? []).filter((other) => !isValues(other))),
  ]
}

function usersOf({ links, using, calling }: Index, path: string): string[] {
  const users = (links.get(path)?.declares ?? []).map((name) => using.get(name) ?? [])
  return [...users, calling.get(folderOf(path)) ?? []].filter(({ length }) => length <= MAX_USERS).flat()
}

/** Reads the declarations and references of a file, qualified by its folder, where they are valid. */
function readLinks({ path, text }: CodeFile): Links {
  const folder = folderOf(path)
  if (isValues(path)) return { declares: [], uses: readAssigned(folder, text), calls: [] }
  const inFolder = (name: string) => `${folder}:${name}`
  const uses = new Set<string>()
  for (const [, kind, name, data = '', type, block] of text.matchAll(REFERENCE))
    uses.add(inFolder(kind === undefined ? `${data}${type}.${block}` : `${kind}.${name}`))
  return {
    declares: declaredBlocksIn(path, text).map((block) => inFolder(addressOf(block))),
    uses: [...uses],
    calls: [...new Set(moduleSources({ path, text }).flatMap((source) => resolveFolder(folder, source) ?? []))],
  }
}

/** Returns the assigned variables of the root and of the folder of the values. */
function readAssigned(folder: string, text: string): string[] {
  return [...new Set([folder, ''])].flatMap((scope) => assignedNames(text).map((name) => `${scope}:var.${name}`))
}

/** Returns the address in references of a block that `declaredBlocksIn` lists. */
const addressOf = (block: string): string =>
  block
    .replace(/^resource /, '')
    .replace(/^variable /, 'var.')
    .replace(/^(data|module|output|local) /, '$1.')
