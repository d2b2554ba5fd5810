import { lstat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isVariableFile } from '../../../src/plan/code/variable-files.ts'
import { isEngineCode } from '../../../src/repository/roots/loaded-names.ts'
import { MAX_LISTING } from '../git/git.ts'
import { isInside } from './confine.ts'
import type { Editor } from './edit.ts'
import { isHidden, isKeyFile } from './engine-files.ts'
import { findReach, isUsed, type Reach, realClone, realInClone, slashed } from './reach.ts'

export interface SurveyedFile {
  /** With slashes, relative to the root; one outside of it begins with `../`. */
  path: string
  bytes: number
  /** Of a symbolic link, the path of its target in the same form. */
  link?: string
}

/** The files of a root and those outside of it that it uses. */
export interface Survey {
  /** What the engine loads first: the root, its modules, what else they use, other code, the rest. */
  files: SurveyedFile[]
  /** Number of further such files, beyond the limit. */
  beyondLimit: number
  /** Numbers of the other files of the repository, and of those of them that are code. */
  elsewhere: { files: number; code: number }
  /** False when the root may use more, because a file or a source of a module could not be read. */
  isWhole: boolean
}

/** More files than this could not be listed to a model anyway. */
const MAX_FILES = 2_000

const README = /^readme(\.(md|txt))?$/i

/** Lists files as `Survey` says; nothing where git lists nothing. */
export async function surveyFiles(editor: Editor, signal?: AbortSignal): Promise<Survey> {
  const clone = await realClone(editor)
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = await editor.git(args, { cwd: clone, maxOutput: MAX_LISTING, signal })
  const survey: Survey = { files: [], beyondLimit: 0, elsewhere: { files: 0, code: 0 }, isWhole: true }
  if (listed.code !== 0) return survey
  const reach = await findReach(editor)
  const ranked: { path: string; rank: number }[] = []
  for (const name of new Set(listed.stdout.split('\0'))) {
    if (name === '' || name.split('/').some((segment) => isHidden(editor.paths, segment))) continue
    const path = join(clone, name)
    const rank = rankOf(editor, reach, path)
    if (rank !== null) ranked.push({ path, rank })
    else countElsewhere(survey, name)
  }
  ranked.sort((a, b) => a.rank - b.rank || depthOf(a.path) - depthOf(b.path))
  const listedPaths = ranked.slice(0, MAX_FILES).map(({ path }) => path)
  const files = await Promise.all(listedPaths.map((path) => measureFile(editor, path)))
  for (const [index, file] of files.entries()) {
    if (file) survey.files.push(file)
    else countElsewhere(survey, listedPaths[index] ?? '')
  }
  survey.beyondLimit = Math.max(0, ranked.length - MAX_FILES)
  survey.isWhole = reach.isWhole
  return survey
}

function countElsewhere({ elsewhere }: Survey, path: string): void {
  elsewhere.files++
  if (isEngineCode(path) || isVariableFile(path)) elsewhere.code++
}

const depthOf = (path: string): number => path.split('/').length

/** Returns the place of a file in the survey; null for one that is not surveyed. */
function rankOf({ root }: Editor, reach: Reach, path: string): number | null {
  const [folder, name] = [dirname(path), basename(path)]
  const isOwn = isInside(root, path)
  if (!isOwn && (!isUsed(reach, path) || isKeyFile(name))) return null
  const isLoaded = reach.modules.has(folder) && isEngineCode(name) && !name.startsWith('.')
  if (folder === root && (isLoaded || isVariableFile(name) || README.test(name))) return name.startsWith('.') ? null : 0
  if (isLoaded) return 1
  const below = isOwn ? relative(root, path) : relative(root, path).replace(/^(\.\.\/)+/, '')
  if (below.split('/').some((segment) => segment.startsWith('.'))) return null
  if (!isOwn) return 2
  return isEngineCode(name) || isVariableFile(name) ? 3 : 4
}

/** Returns null for what is neither a regular file nor a link to one that may be read, such as a submodule. */
async function measureFile(editor: Editor, path: string): Promise<SurveyedFile | null> {
  const shown = (target: string) => slashed(relative(editor.root, target))
  const info = await lstat(path).catch(() => null)
  if (info?.isFile()) return { path: shown(path), bytes: info.size }
  if (!info?.isSymbolicLink()) return null
  const target = await realInClone(editor, path)
  const linked = target === null ? null : await lstat(target)
  return target && linked?.isFile() ? { path: shown(path), bytes: linked.size, link: shown(target) } : null
}
