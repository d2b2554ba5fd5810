import type { ContextBudget } from '../../agent/context-budget.ts'
import { cutMiddle } from '../../base/text.ts'
import { fence, joinParts } from '../../prompts/layout.ts'
import { isCode, isValues } from './declared-blocks.ts'

/** A file of the engine root. */
export interface RepositoryFile {
  path: string
  bytes: number
  /** Declared blocks; empty for files that are not code. */
  blocks: string[]
  /** Null for files that were not read. */
  text: string | null
}

/** The view of a repository for a model. */
export interface ShownRepository {
  /** One line per file; files that are shown whole appear without declarations, or not at all. */
  overview: string
  /** Whole files; empty when there are none. */
  relevant: string
  /** True if `relevant` holds all code of the repository. */
  complete: boolean
}

/** Maximum characters of the list of blocks in one line. */
const MAX_LINE = 2_000

/**
 * Lists the files, one per line as `path (size): blocks`: code before other files, and the root before folders. If not
 * all fit, near ones come first, and the last line has the number of the rest.
 * @param findNear returns the paths of files for the task, nearest first; called only when not all fit
 */
export function describeFiles(
  files: readonly RepositoryFile[],
  budget: ContextBudget,
  findNear: () => readonly string[] = () => [],
): string {
  const ordered = files.toSorted((a, b) => rankOf(b) - rankOf(a) || (a.path < b.path ? -1 : 1))
  const all = listFiles(ordered, budget)
  if (all.missing === 0) return all.text
  const near = findNear()
  const places = new Map(near.map((path, index) => [path, index]))
  const placeOf = ({ path }: RepositoryFile) => places.get(path) ?? near.length
  const byNearness = ordered.toSorted((a, b) => placeOf(a) - placeOf(b))
  return listFiles(byNearness, budget).text
}

function listFiles(ordered: readonly RepositoryFile[], { tokens, estimate }: ContextBudget) {
  const lines: string[] = []
  let left = tokens
  for (const file of ordered) {
    const line = lineOf(file)
    left -= estimate(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  const missing = ordered.length - lines.length
  const marker = missing > 0 ? [`[… ${missing} more ${missing === 1 ? 'file' : 'files'} left out …]`] : []
  return { text: [...lines, ...marker].join('\n'), missing }
}

const rankOf = ({ path }: RepositoryFile): number => (isCode(path) ? 100 : 0) - path.split('/').length

function lineOf({ path, bytes, blocks }: RepositoryFile): string {
  const size = bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} kB`
  return `${oneLine(path)} (${size})${blocks.length > 0 ? `: ${cutMiddle(oneLine(blocks.join(', ')), MAX_LINE)}` : ''}`
}

/** Lists only files with blocks or values of variables, for a model that needs to know what exists. */
export const describeBlocks = (
  files: readonly RepositoryFile[],
  budget: ContextBudget,
  findNear?: () => readonly string[],
): string =>
  describeFiles(
    files.filter(({ path, blocks }) => blocks.length > 0 || isValues(path)),
    budget,
    findNear,
  )

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ')

export interface ChosenFiles {
  /** Whole files: those of the root by name, then those in folders by path. */
  chosen: { path: string; text: string }[]
  /** Files that may concern the task but did not fit. */
  leftOut: string[]
  /** True if all code was chosen. */
  complete: boolean
}

/** Describes the repository for a model that will change it. */
export function describeRepository(
  files: readonly RepositoryFile[],
  choice: ChosenFiles,
  budget: ContextBudget,
  findNear?: () => readonly string[],
): ShownRepository {
  const shown = new Set(choice.chosen.map(({ path }) => path))
  const listed = choice.complete
    ? files.filter(({ path }) => !shown.has(path))
    : files.map((file) => (shown.has(file.path) ? { ...file, blocks: [] } : file))
  return {
    overview: describeFiles(listed, budget, findNear),
    relevant: describeChosen(choice),
    complete: choice.complete,
  }
}

/** Joins the chosen files to one text, with a marker that names those that did not fit. */
export function describeChosen({ chosen, leftOut }: Pick<ChosenFiles, 'chosen' | 'leftOut'>): string {
  if (chosen.length === 0) return ''
  const parts = chosen.map(({ path, text }) => `--- ${oneLine(path)} ---\n${text.trimEnd()}\n`)
  if (leftOut.length > 0) parts.push(`[… left out for lack of room: ${leftOut.map(oneLine).join(', ')} …]`)
  return parts.join('\n').trimEnd()
}

/** Returns the part of a query that shows a repository. */
export function showRepository({ overview, relevant, complete }: ShownRepository): string {
  const parts = complete
    ? [
        relevant === ''
          ? 'The repository has no code yet.'
          : 'All code of the repository as it is now, whole: no other code needs to be listed or read.\n' +
            fence('relevant files', relevant),
        overview && `Its other files:\n${fence('repository files', overview)}`,
      ]
    : [
        relevant &&
          'Files of the repository as they are now, whole, so that they need not be read again:\n' +
            fence('relevant files', relevant),
        overview &&
          `All files of the repository, with the blocks of those not shown:\n${fence('repository files', overview)}`,
      ]
  return joinParts(...parts)
}
