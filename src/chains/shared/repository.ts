import type { ContextBudget } from '../../agent/context-budget.ts'
import { cutMiddle } from '../../base/text.ts'
import { isVariableFile } from '../../plan/code/variable-files.ts'
import { fence, joinParts } from '../../prompts/layout.ts'
import { isCode } from './declared-blocks.ts'

/** A file of the engine root, or outside of it one that the root uses. */
export interface RepositoryFile {
  /** Relative to the root; outside of it beginning with `../`. */
  path: string
  /** Of a symbolic link, the path of its target. */
  link?: string
  bytes: number
  /** Declared blocks; empty for files that are not code. */
  blocks: string[]
  /** Null for files that were not read. */
  text: string | null
}

/** What the files of a survey leave out. */
interface Surroundings {
  /** Path of the engine root in the repository; empty for the repository's own root. */
  root: string
  /** Number of files that were left out because there are too many. */
  beyondLimit: number
  /** Numbers of the files of the repository that the root does not use, and of those of them that are code. */
  elsewhere: { files: number; code: number }
  /** False when the root may use more, because a file or a source of a module could not be read. */
  isWhole: boolean
}

/** The files of the engine root and those outside of it that it uses. */
export interface RepositorySurvey extends Surroundings {
  files: RepositoryFile[]
}

/** The view of a repository for a model. */
export interface ShownRepository {
  /** One line per file; files that are shown whole appear without declarations, or not at all. */
  overview: string
  /** Whole files; empty when there are none. */
  relevant: string
  /** True if `relevant` holds all code of the root and of what it uses. */
  complete: boolean
  around: Surroundings
  /** True if some files can be read but not changed. */
  hasReadOnly: boolean
}

/** Maximum characters of the list of blocks in one line. */
const MAX_LINE = 2_000

/**
 * Lists the files, one per line as `path (size): blocks`: code before other files, and the root before folders. If not
 * all fit, near ones come first, and the last line has the number of the rest.
 * @param options.near returns the paths of files for the task, nearest first; called only when not all fit
 * @param options.beyondLimit number of files that are not among `files`
 */
export function describeFiles(files: readonly RepositoryFile[], budget: ContextBudget, options: ListOptions = {}) {
  const { near: findNear = () => [], beyondLimit = 0 } = options
  const ordered = files.toSorted((a, b) => rankOf(b) - rankOf(a) || (a.path < b.path ? -1 : 1))
  const all = listFiles(ordered, budget, beyondLimit)
  if (all.missing === 0) return all.text
  const near = findNear()
  const places = new Map(near.map((path, index) => [path, index]))
  const placeOf = ({ path }: RepositoryFile) => places.get(path) ?? near.length
  const byNearness = ordered.toSorted((a, b) => placeOf(a) - placeOf(b))
  return listFiles(byNearness, budget, beyondLimit).text
}

interface ListOptions {
  near?: () => readonly string[]
  beyondLimit?: number
}

function listFiles(ordered: readonly RepositoryFile[], { tokens, estimate }: ContextBudget, beyondLimit: number) {
  const lines: string[] = []
  let left = tokens
  for (const file of ordered) {
    const line = lineOf(file)
    left -= estimate(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  const missing = ordered.length - lines.length
  const leftOut = missing + beyondLimit
  const marker = leftOut > 0 ? [`[… ${leftOut} more ${leftOut === 1 ? 'file' : 'files'} left out …]`] : []
  return { text: [...lines, ...marker].join('\n'), missing }
}

const rankOf = ({ path }: RepositoryFile): number => (isCode(path) ? 100 : 0) - path.split('/').length

export const isReadOnly = ({ path, link }: Pick<RepositoryFile, 'path' | 'link'>): boolean =>
  path.startsWith('../') || link !== undefined

function lineOf(file: RepositoryFile): string {
  const { path, bytes, blocks, link } = file
  const size = bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} kB`
  const facts = [size, link && `link to ${oneLine(link)}`, isReadOnly(file) && 'read-only'].filter(Boolean).join(', ')
  return `${oneLine(path)} (${facts})${blocks.length > 0 ? `: ${cutMiddle(oneLine(blocks.join(', ')), MAX_LINE)}` : ''}`
}

/** Lists only files with blocks or values of variables, for a model that needs to know what exists. */
export const describeBlocks = (
  files: readonly RepositoryFile[],
  budget: ContextBudget,
  options?: ListOptions,
): string =>
  describeFiles(
    files.filter(({ path, blocks }) => blocks.length > 0 || isVariableFile(path)),
    budget,
    options,
  )

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ')

export interface ChosenFiles {
  /** Whole files: those of the root by name, then those in folders by path. */
  chosen: { path: string; text: string; link?: string }[]
  /** Files that may concern the task but did not fit. */
  leftOut: string[]
  /** True if all code of the root and of what it uses was chosen. */
  complete: boolean
}

/** Describes the repository for a model that will change it. */
export function describeRepository(
  { files, ...around }: RepositorySurvey,
  choice: ChosenFiles,
  budget: ContextBudget,
  near?: () => readonly string[],
): ShownRepository {
  const shown = new Set(choice.chosen.map(({ path }) => path))
  const listed = choice.complete
    ? files.filter(({ path }) => !shown.has(path))
    : files.map((file) => (shown.has(file.path) ? { ...file, blocks: [] } : file))
  return {
    overview: describeFiles(listed, budget, { near, beyondLimit: around.beyondLimit }),
    relevant: describeChosen(choice),
    complete: choice.complete,
    around,
    hasReadOnly: files.some(isReadOnly),
  }
}

/** Joins the chosen files to one text, with a marker that names those that did not fit. */
export function describeChosen({ chosen, leftOut }: Pick<ChosenFiles, 'chosen' | 'leftOut'>): string {
  if (chosen.length === 0) return ''
  const parts = chosen.map(
    (file) => `--- ${oneLine(file.path)}${isReadOnly(file) ? ' (read-only)' : ''} ---\n${file.text.trimEnd()}\n`,
  )
  if (leftOut.length > 0) parts.push(`[… left out for lack of room: ${leftOut.map(oneLine).join(', ')} …]`)
  return parts.join('\n').trimEnd()
}

/** Returns the part of a query that shows a repository. What is said to be whole is whole. */
export function showRepository({ overview, relevant, complete, around, hasReadOnly }: ShownRepository): string {
  const { code, files } = around.elsewhere
  const root = around.root === '' ? 'the engine root' : `the engine root \`${oneLine(around.root)}\``
  const unlisted = files === 0 ? '' : ` (${files} more of the repository ${files === 1 ? 'is' : 'are'} not listed)`
  const whole = [
    code === 0 && around.isWhole
      ? 'All code of the repository as it is now, whole: no other code needs to be listed or read.'
      : `All code of ${root} and of the modules that it uses from the repository, as it is now, whole: no other code ` +
        'needs to be listed or read.',
    around.isWhole ? '' : 'It may use more, because not every module that it calls could be found.',
    code === 0
      ? ''
      : `${code} other code ${code === 1 ? 'file' : 'files'} of the repository, which it does not use, ` +
        `${code === 1 ? 'is' : 'are'} not shown.`,
  ]
  const parts = complete
    ? [
        relevant === ''
          ? `${code === 0 ? 'The repository' : root.replace('the', 'The')} has no code yet.`
          : `${whole.filter(Boolean).join(' ')}\n${fence('relevant files', relevant)}`,
        overview && `Other files${unlisted}:\n${fence('repository files', overview)}`,
      ]
    : [
        relevant &&
          'Files of the repository as they are now, whole, so that they need not be read again:\n' +
            fence('relevant files', relevant),
        overview &&
          `The files of ${files === 0 ? 'the repository' : `${root} and of what it uses`}, with the blocks of those ` +
            `not shown${unlisted}:\n${fence('repository files', overview)}`,
      ]
  return joinParts(...parts, hasReadOnly ? READ_ONLY : '')
}

const READ_ONLY =
  'Files marked as read-only lie outside of the engine root (paths from `../`) or are symbolic links: other roots of ' +
  'the repository may use them, so they can be read and not changed. Where the task needs a change there, change what ' +
  'the root itself can, and say in the summary what has to be changed in which of them.'
