import type { ContextBudget } from '../../agent/context-budget.ts'
import { readBlocks } from '../../plan/code/blocks.ts'
import { type CodeFile, folderOf, moduleSources, resolveFolder } from '../../plan/code/modules.ts'
import { assignedNames, isVariableFile } from '../../plan/code/variable-files.ts'
import { declaredBlocksIn, isCode, isReadme } from './declared-blocks.ts'
import type { ChosenFiles, RepositoryFile } from './repository.ts'

/** Maximum bytes of code in a repository that is shown whole. */
const MAX_WHOLE_BYTES = 30_000
const MAX_CHOSEN = 24
const MAX_NAMED = 20
/** Maximum files where the walk along references starts, and their minimum share of the best score. */
const STARTS = { count: 8, share: 0.3 }
/** Share of the room that files of the root may take before those that match the task. */
const ROOT_SHARE = 0.5
/** Conventional names of code files in the root. */
const ROOT_FILE = /^(variables|locals|main|outputs|providers?|versions|terraform)\.[a-z.]+$|\.tfvars(\.json)?$/

interface Task {
  /** The words of the task, in any language. */
  about: string
  changed: ReadonlySet<string>
}

/** Chooses all code and the root's description; null when they are too long or some code was not read. */
export function chooseAll(files: readonly RepositoryFile[], { tokens, estimate }: ContextBudget): ChosenFiles | null {
  const code = files.filter(({ path }) => isCode(path))
  const shown = files.filter(({ path, text }) => isCode(path) || (isReadme(path) && text !== null))
  const chosen = shown.flatMap(({ path, text, link }) => (text === null ? [] : [{ path, text, link }]))
  const bytes = code.reduce((sum, file) => sum + file.bytes, 0)
  const cost = chosen.reduce((sum, file) => sum + costOf(file, estimate), 0)
  return chosen.length < shown.length || bytes > MAX_WHOLE_BYTES || cost > tokens
    ? null
    : { chosen: chosen.sort(byPlace), leftOut: [], complete: true }
}

/**
 * Chooses whole files of a longer repository as long as they fit: what the session changed and the task names, the
 * files of the root, then those whose blocks share words with the task, and their references. When no word matches, for
 * example in another language, the files of the root and the changed ones remain.
 */
export function chooseFiles(
  files: readonly RepositoryFile[],
  task: Task,
  { tokens, estimate }: ContextBudget,
): ChosenFiles {
  const readable = files.flatMap((file) => (file.text === null ? [] : [{ ...file, text: file.text }]))
  const code = readable.filter(({ path }) => isCode(path))
  const readme = readable.filter(({ path }) => isReadme(path))
  const byPath = new Map([...code, ...readme].map((file) => [file.path, file]))
  const near = nearFiles(code, task)
  const result: ChosenFiles = { chosen: [], leftOut: [], complete: false }
  const seen = new Set<string>()
  let left = tokens
  const take = (paths: readonly string[], room: number) => {
    const floor = left - room
    for (const path of paths) {
      const file = byPath.get(path)
      if (!file || seen.has(path)) continue
      seen.add(path)
      const cost = costOf(file, estimate)
      if (left - cost < Math.max(0, floor) || result.chosen.length >= MAX_CHOSEN) {
        if (result.leftOut.length < MAX_NAMED) result.leftOut.push(path)
        continue
      }
      left -= cost
      result.chosen.push({ path, text: file.text, link: file.link })
    }
  }
  take(pathsOf(near.filter(({ given }) => given)), tokens)
  take(pathsOf(readme), tokens)
  take(rootFiles(code, tokens * ROOT_SHARE, estimate), tokens * ROOT_SHARE)
  take(pathsOf(near), tokens)
  return { ...result, chosen: result.chosen.sort(byPlace) }
}

/** Returns all code of the root if it fits into its share, else the files with conventional names. */
function rootFiles(code: readonly CodeFile[], room: number, estimate: ContextBudget['estimate']): string[] {
  const root = code.filter(({ path }) => !path.includes('/')).sort(byPlace)
  const cost = root.reduce((sum, file) => sum + costOf(file, estimate), 0)
  return pathsOf(cost <= room ? root : root.filter(({ path }) => ROOT_FILE.test(path)))
}

const pathsOf = (files: readonly { path: string }[]): string[] => files.map(({ path }) => path)

/** Returns the nearest files first: `given` ones, those that share words with the task, their references. */
export function nearFiles(code: readonly CodeFile[], { about, changed }: Task): { path: string; given: boolean }[] {
  const named = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    return about.includes(path) || (!ROOT_FILE.test(name) && about.includes(name))
  }
  const given = new Set(pathsOf(code).filter((path) => changed.has(path) || named(path)))
  const scores = scoreFiles(code, about)
  const best = Math.max(0, ...scores.values())
  const starts = [...scores]
    .filter(([, score]) => score > 0 && score >= best * STARTS.share)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, STARTS.count)
    .map(([path]) => path)
  const steps = reachFiles(code, [...given, ...starts])
  return [...steps]
    .sort(
      ([a, x], [b, y]) =>
        Number(given.has(b)) - Number(given.has(a)) ||
        x - y ||
        (scores.get(b) ?? 0) - (scores.get(a) ?? 0) ||
        (a < b ? -1 : 1),
    )
    .map(([path]) => ({ path, given: given.has(path) }))
}

/** The weight of a word in the name of an argument; 1 in the name of a block. */
const ARGUMENT = 0.3
const ARGUMENT_NAME = /^[ \t]+([A-Za-z_][\w-]*)[ \t]*=(?!=)/gm

/** Scores files by words that their blocks share with a task: 1 for a word in one file, 0.25 if in four. */
function scoreFiles(code: readonly CodeFile[], about: string): Map<string, number> {
  const wanted = wordsOf(about)
  const frequency = new Map<string, number>()
  const shared = code.map(({ path, text }) => {
    const words = new Map<string, number>()
    const note = (names: string, weight: number) => {
      for (const word of wordsOf(names)) if (wanted.has(word)) words.set(word, Math.max(weight, words.get(word) ?? 0))
    }
    for (const block of declaredBlocksIn(path, text)) note(block.replace(/^\w+ /, ''), 1)
    for (const [, name = ''] of text.matchAll(ARGUMENT_NAME)) note(name, ARGUMENT)
    for (const word of words.keys()) frequency.set(word, (frequency.get(word) ?? 0) + 1)
    return [path, words] as const
  })
  return new Map(
    shared.map(([path, words]) => [
      path,
      [...words].reduce((sum, [word, weight]) => sum + weight / (frequency.get(word) ?? 1), 0),
    ]),
  )
}

const costOf = ({ path, text }: CodeFile, estimate: ContextBudget['estimate']): number =>
  estimate(text) + estimate(path) + 8

/** Sorts files of the root by name, then those in folders by path. */
function byPlace(a: { path: string }, b: { path: string }): number {
  return Number(a.path.includes('/')) - Number(b.path.includes('/')) || (a.path < b.path ? -1 : 1)
}

/** Words that are too common in code and requests to identify a file. */
const COMMON = new Set([
  ...'the and for with that this from into when all add new not but its our use make set get has have should'.split(
    ' ',
  ),
  ...'please also main tf terraform data aws azurerm google oci kubernetes name names id ids tags type'.split(' '),
  ...'resource resources module variable output file files value default description'.split(' '),
])

/** Returns lower-case words of at least three letters or two digits, without plural `s`. */
export function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}]{2,}|(?<![\p{L}\p{N}])\p{N}{2,}(?!\p{N})/gu) ?? []
  return new Set(
    words.filter((word) => !COMMON.has(word)).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)),
  )
}

/** Maximum steps along references from the starting files. */
const MAX_STEPS = 2
/** Names that more files use, such as common tags, are not followed. */
const MAX_USERS = 8

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
  const pathsBy = (keysOf: (links: ReturnType<typeof readLinks>, path: string) => string[]): Map<string, string[]> => {
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
    ...calls.flatMap((folder) => (inFolder.get(folder) ?? []).filter((other) => !isVariableFile(other))),
  ]
}

function usersOf({ links, using, calling }: Index, path: string): string[] {
  const users = (links.get(path)?.declares ?? []).map((name) => using.get(name) ?? [])
  return [...users, calling.get(folderOf(path)) ?? []].filter(({ length }) => length <= MAX_USERS).flat()
}

/** Reads what a file declares and uses, qualified by its folder, where it is valid, and the folders that it calls. */
function readLinks({ path, text }: CodeFile) {
  const folder = folderOf(path)
  if (isVariableFile(path)) return { declares: [], uses: readAssigned(folder, text), calls: [] }
  const inFolder = (name: string) => `${folder}:${name}`
  const uses = readBlocks(path, text)
    .blocks.flatMap((block) => block.references())
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
