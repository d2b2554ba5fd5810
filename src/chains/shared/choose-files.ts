import type { ContextBudget } from '../../agent/context-budget.ts'
import { declaredBlocksIn, isCode, isReadme } from './declared-blocks.ts'
import { type CodeFile, reachFiles } from './references.ts'
import type { ChosenFiles, RepositoryFile } from './repository.ts'

/** A repository whose code has at most so many bytes is shown whole. */
const MAX_WHOLE_BYTES = 30_000
const MAX_CHOSEN = 24
const MAX_NAMED = 20
/** Most files where the walk along references starts, and the share of the best score that each of them needs. */
const STARTS = { count: 8, share: 0.3 }
/** Share of the room that files of the root may take before those that the task leads to. */
const ROOT_SHARE = 0.5
/** Names that code has in the top folder by convention. */
const ROOT_FILE = /^(variables|locals|main|outputs|providers?|versions|terraform)\.[a-z.]+$|\.tfvars(\.json)?$/

/** A task, as far as it leads to files. */
export interface Task {
  /** The words of the task, in any language. */
  about: string
  /** Paths of the files that the session changed. */
  changed: ReadonlySet<string>
}

/**
 * Chooses all code, and the description of the root, when they are short and fit; null otherwise. Code that could not be read, because it is too large for
 * example, makes the repository a long one.
 */
export function chooseAll(files: readonly RepositoryFile[], { tokens, estimate }: ContextBudget): ChosenFiles | null {
  const code = files.filter(({ path }) => isCode(path))
  const shown = files.filter(({ path, text }) => isCode(path) || (isReadme(path) && text !== null))
  const chosen = shown.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]))
  const bytes = code.reduce((sum, file) => sum + file.bytes, 0)
  const cost = chosen.reduce((sum, file) => sum + costOf(file, estimate), 0)
  return chosen.length < shown.length || bytes > MAX_WHOLE_BYTES || cost > tokens
    ? null
    : { chosen: chosen.sort(byPlace), leftOut: [], complete: true }
}

/**
 * Chooses the files of a repository that is too long to be shown whole: what the session changed and the task names by
 * its path, the files of the root, then those whose blocks share words with the task and what these refer to. Files are
 * chosen whole as long as they fit. Where no word of the task is in the code, because it is in another language for
 * example, the files of the root and the changed ones remain.
 */
export function chooseFiles(
  files: readonly RepositoryFile[],
  task: Task,
  { tokens, estimate }: ContextBudget,
): ChosenFiles {
  const code = files.flatMap((file) => (file.text !== null && isCode(file.path) ? [{ ...file, text: file.text }] : []))
  const readme = files.flatMap((file) =>
    file.text !== null && isReadme(file.path) ? [{ ...file, text: file.text }] : [],
  )
  const byPath = new Map([...code, ...readme].map((file) => [file.path, file]))
  const near = nearFiles(code, task)
  const given = near.filter(({ given }) => given).map(({ path }) => path)
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
      result.chosen.push({ path, text: file.text })
    }
  }
  take(given, tokens)
  take(
    readme.map(({ path }) => path),
    tokens,
  )
  take(rootFiles(code, tokens * ROOT_SHARE, estimate), tokens * ROOT_SHARE)
  take(
    near.map(({ path }) => path),
    tokens,
  )
  return { ...result, chosen: result.chosen.sort(byPlace) }
}

/** All code of the root when it fits into its share, else the files with the names that are usual there. */
function rootFiles(code: readonly CodeFile[], room: number, estimate: ContextBudget['estimate']): string[] {
  const root = code.filter(({ path }) => !path.includes('/')).sort(byPlace)
  const cost = root.reduce((sum, file) => sum + costOf(file, estimate), 0)
  return (cost <= room ? root : root.filter(({ path }) => ROOT_FILE.test(path))).map(({ path }) => path)
}

/**
 * The files that a task leads to, the nearest first: those that it names or the session changed (`given`), those whose
 * blocks share words with it, and what these refer to.
 */
export function nearFiles(code: readonly CodeFile[], { about, changed }: Task): { path: string; given: boolean }[] {
  const named = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    return about.includes(path) || (!ROOT_FILE.test(name) && about.includes(name))
  }
  const given = new Set(code.map(({ path }) => path).filter((path) => changed.has(path) || named(path)))
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

/** The weight of a word in the name of an argument; in the name of a block it is 1. */
const ARGUMENT = 0.3
const ARGUMENT_NAME = /^[ \t]+([A-Za-z_][\w-]*)[ \t]*=(?!=)/gm

/**
 * Scores files by the words that names and types of their blocks, and names of their arguments, share with a task. A
 * word counts the more the fewer files have it: 1 when one file has it, 0.25 when four have it.
 */
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

/** Files of the root by name, then those in folders by path, so that the same files always have the same order. */
function byPlace(a: { path: string }, b: { path: string }): number {
  return Number(a.path.includes('/')) - Number(b.path.includes('/')) || (a.path < b.path ? -1 : 1)
}

/** Words that are so common in code and requests that they say nothing about a file. */
const COMMON = new Set([
  ...'the and for with that this from into when all add new not but its our use make set get has have should'.split(
    ' ',
  ),
  ...'please also main tf terraform data aws azurerm google oci kubernetes name names id ids tags type'.split(' '),
  ...'resource resources module variable output file files value default description'.split(' '),
])

/**
 * The words of a text in lower case, without a plural `s`; words of less than three letters are left
 * out, numbers of two digits and more are not: `service-217` has the words `service` and `217`.
 */
function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}]{2,}|(?<![\p{L}\p{N}])\p{N}{2,}(?!\p{N})/gu) ?? []
  return new Set(
    words.filter((word) => !COMMON.has(word)).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)),
  )
}
