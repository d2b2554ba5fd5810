import { traversalsIn } from '../../hcl/read.ts'
import { type CodeFile, folderOf, resolveFolder } from '../../plan/code/modules.ts'
import { assignedNames } from '../../plan/code/variable-files.ts'
import { declaredBlocksIn, isJsonCode, isValues, moduleSources } from './declared-blocks.ts'

/** Maximum steps along references from the starting files. */
const MAX_STEPS = 2
/** Names that more files use, such as common tags, are not followed. */
const MAX_USERS = 8

/** A text in the JSON syntax, which may be an expression. */
const JSON_TEXT = /"(?:[^"\\]|\\.)*"/g

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

type Index = ReturnType<typeof buildIndex>

/** Finds paths by declaration, by use, by folder, and by folder of a called module. */
function buildIndex(files: readonly CodeFile[]) {
  const links = new Map(files.map((file) => [file.path, readLinks(file)]))
  const pathsBy = (keysOf: (links: Links, path: string) => string[]): Map<string, string[]> => {
    const entries = [...links].flatMap(([path, own]) => keysOf(own, path).map((key) => ({ key, path })))
    const groups = Map.groupBy(entries, ({ key }) => key)
    return new Map([...groups].map(([key, group]) => [key, group.map(({ path }) => path)]))
  }
  return {
    links,
    declaring: pathsBy(({ declares }) => declares),
    using: pathsBy(({ uses }) => uses),
    inFolder: pathsBy((_, path) => [folderOf(path)]),
    calling: pathsBy(({ calls }) => calls),
  }
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
  const expressions = isJsonCode(path) ? (text.match(JSON_TEXT) ?? []).map((quoted) => quoted.slice(1, -1)) : [text]
  const uses = expressions
    .flatMap(traversalsIn)
    .map((names) => inFolder(names.slice(0, names[0] === 'data' ? 3 : 2).join('.')))
  return {
    declares: declaredBlocksIn(path, text).map((block) => inFolder(addressOf(block))),
    uses: [...new Set(uses)],
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
