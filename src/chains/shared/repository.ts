import type { ContextBudget } from '../../agent/context-budget.ts'
import { cutMiddle } from '../../base/text.ts'

/** A file of the engine root. */
export interface RepositoryFile {
  path: string
  bytes: number
  /** What it declares; empty for files that are not code. */
  blocks: string[]
  /** Null for files that were not read. */
  text: string | null
}

/** Longest list of blocks that one line shows. */
const MAX_LINE = 2_000

/**
 * Lists the files, one a line as `path (size): blocks`: code before other files, and files of the root before those in
 * folders. The last line says how many files did not fit.
 */
export function describeFiles(files: readonly RepositoryFile[], { tokens, estimate }: ContextBudget): string {
  const ordered = files.toSorted((a, b) => rankOf(b) - rankOf(a) || (a.path < b.path ? -1 : 1))
  const lines: string[] = []
  let left = tokens
  for (const file of ordered) {
    const line = lineOf(file)
    left -= estimate(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  const missing = ordered.length - lines.length
  return [
    ...lines,
    ...(missing > 0 ? [`[… ${missing} more ${missing === 1 ? 'file' : 'files'} left out …]`] : []),
  ].join('\n')
}

const rankOf = ({ path, blocks }: RepositoryFile): number => (blocks.length > 0 ? 100 : 0) - path.split('/').length

function lineOf({ path, bytes, blocks }: RepositoryFile): string {
  const size = bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} kB`
  return `${oneLine(path)} (${size})${blocks.length > 0 ? `: ${cutMiddle(oneLine(blocks.join(', ')), MAX_LINE)}` : ''}`
}

/** Lists only the files that declare blocks, for a model that has to know what exists. */
export const describeBlocks = (files: readonly RepositoryFile[], budget: ContextBudget): string =>
  describeFiles(
    files.filter(({ blocks }) => blocks.length > 0),
    budget,
  )

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ')

export interface ChosenFiles {
  /** Whole files, the most relevant first. */
  chosen: { path: string; text: string }[]
  /** Relevant files that did not fit. */
  leftOut: string[]
}

const MAX_CHOSEN = 12
const MAX_NAMED = 20

/**
 * Chooses the files that a request is about: those whose names and blocks share words with it, and those that the
 * session changed. A word counts the more the fewer files have it: 1 when one file has it, 0.25 when four have it.
 * Files are chosen whole, those with the highest score first, as long as they fit.
 * @param changed paths of the files that the session changed
 */
export function chooseFiles(
  files: readonly RepositoryFile[],
  request: string,
  changed: ReadonlySet<string>,
  { tokens, estimate }: ContextBudget,
): ChosenFiles {
  const requestWords = wordsOf(request)
  const readable = files.flatMap((file) =>
    file.text === null ? [] : [{ ...file, text: file.text, words: wordsOf(namesOf(file)) }],
  )
  const frequency = new Map<string, number>()
  for (const { words } of readable) for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  const scored = readable
    .map((file) => {
      const shared = [...file.words].filter((word) => requestWords.has(word))
      const score = shared.reduce((sum, word) => sum + 1 / (frequency.get(word) ?? 1), changed.has(file.path) ? 1 : 0)
      return { file, score }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.file.bytes - b.file.bytes)
  const result: ChosenFiles = { chosen: [], leftOut: [] }
  let left = tokens
  for (const { file } of scored) {
    const cost = estimate(file.text) + estimate(file.path) + 8
    if (cost > left || result.chosen.length >= MAX_CHOSEN) {
      if (result.leftOut.length < MAX_NAMED) result.leftOut.push(file.path)
      continue
    }
    left -= cost
    result.chosen.push({ path: file.path, text: file.text })
  }
  return result
}

/** Joins the chosen files to one text, with a marker that names those that did not fit. */
export function describeChosen({ chosen, leftOut }: ChosenFiles): string {
  if (chosen.length === 0) return ''
  const parts = chosen.map(({ path, text }) => `--- ${oneLine(path)} ---\n${text}`)
  if (leftOut.length > 0) parts.push(`[… left out for lack of room: ${leftOut.map(oneLine).join(', ')} …]`)
  return parts.join('\n\n')
}

const namesOf = ({ path, blocks }: RepositoryFile): string =>
  `${path.replace(/\.\w+$/, '')} ${blocks.map((block) => block.replace(/^\w+ /, '')).join(' ')}`

/** Words that are so common in code and requests that they say nothing about a file. */
const COMMON = new Set([
  ...'the and for with that this from into when all add new not but its our use make set get has have should'.split(
    ' ',
  ),
  ...'please also main tf terraform data aws azurerm google oci kubernetes name names id ids tags type'.split(' '),
  ...'resource resources module variable output file files'.split(' '),
])

/** The words of a text in lower case, without a plural `s`; words of less than three characters are left out. */
function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}]{2,}/gu) ?? []
  return new Set(
    words.filter((word) => !COMMON.has(word)).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)),
  )
}
