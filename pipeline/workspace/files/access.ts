import { type FileHandle, lstat, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import type { Config } from '../../../config/types.ts'
import { ToolError } from '../../../src/agent/agent-request.ts'
import { forEachOf } from '../../../src/base/gate.ts'
import { distanceWithin, editDistance } from '../../../src/base/text.ts'
import { runProcess } from '../../../src/runtime/run-process.ts'
import { createLocalGit, type LocalGit, MIB } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { asOnDisk, type Enclosure, isInside } from './confine.ts'
import { type Editor, MissingFile, missingFileError, removeFile, replaceInText, writeText } from './edit.ts'
import { hiddenNames, isHidden, KEY_FILES } from './engine-files.ts'
import { withRegularFile } from './private-files.ts'
import { findReach, isUsed, isUsedFolder, type Reach, resolveReadablePath, slashed } from './reach.ts'
import { surveyFiles } from './survey.ts'

export type FileAccess = ReturnType<typeof createFileAccess>

const MAX_READ = 200_000
const READERS = 16

/**
 * The files of an engine root that an agent may use, with paths relative to the root. What the root uses of the clone
 * outside of it, by modules, paths in code and links, is read, searched and never changed. Other files outside of it,
 * git's files, keys, the backend override and engine state are neither shown nor changed. Refusals are `ToolError`s
 * with a text for the model.
 */
export function createFileAccess(
  config: Config,
  workspace: Pick<Workspace, 'iacRoot' | 'clone' | 'gitDirectory' | 'localGit'>,
) {
  const { iacRoot: root, clone, gitDirectory: directory } = workspace
  const git = workspace.localGit ?? createLocalGit(config.git, { directory, workTree: clone })
  const editor = { root, clone, paths: config.paths, git }
  const most = config.git.max_change_mib * MIB
  const read = async (named: string): Promise<string> => {
    const path = await asOnDisk(root, named)
    const target = await resolveReadablePath(editor, path)
    const text = target === null ? null : await readChecked(editor, path, target)
    return text ?? (await nameNearPaths(editor, path, Promise.reject(missingFileError(path))))
  }
  return {
    /** Reads a text file, cut with a note after 200,000 characters. */
    read,
    /**
     * Reads files in parallel and returns their texts by path, without those that cannot be read. Errors: a plain one
     * above `git.max_change_mib` together.
     */
    readAll: async (paths: readonly string[]) => {
      const texts = new Map<string, string>()
      let characters = 0
      await forEachOf(paths, READERS, async (path) => {
        const text = characters > most ? null : await read(path).catch(() => null)
        characters += text?.length ?? 0
        if (text !== null) texts.set(path, text)
      })
      if (characters > most) throw new Error(`${paths.length} files hold more than git.max_change_mib together`)
      return texts
    },
    /** Writes a `tf` or `tfvars` file, like the next two; returns true if that changed anything. */
    write: async (path: string, content: string) => writeText(editor, await asOnDisk(root, path), content),
    /** Applies all search/replace blocks to a file, or none when one does not fit. */
    replace: async (path: string, diff: string) =>
      nameNearPaths(editor, path, replaceInText(editor, await asOnDisk(root, path), diff)),
    remove: async (path: string) => nameNearPaths(editor, path, removeFile(editor, await asOnDisk(root, path))),
    /** Lists the entries of a directory. Names of directories end with a slash. */
    list: async (path: string) =>
      nameNearPaths(editor, path, listDirectory(editor, await asOnDisk(root, path)), foldersOf),
    /** Lists the files of the root and those that it uses, what the engine loads first; see `Survey`. */
    survey: (signal?: AbortSignal) => surveyFiles(editor, signal),
    /** Searches for a regular expression and returns at most 50 lines of the form `file:line:text`. */
    grep: (search: Search, signal?: AbortSignal) => grep(editor, search, signal),
  }
}

/** Adds similar paths, from those that `choose` selects, to the error about a missing file or folder. */
async function nameNearPaths<Result>(
  enclosure: Editor,
  path: string,
  use: Promise<Result>,
  choose: (files: readonly string[]) => readonly string[] = (files) => files,
): Promise<Result> {
  try {
    return await use
  } catch (error) {
    if (!(error instanceof MissingFile)) throw error
    const { files } = await surveyFiles(enclosure)
    const near = nearPaths(path, choose(files.map((file) => file.path)))
    throw near.length === 0 ? error : new MissingFile(`${error.message}. There is: ${near.join(', ')}`)
  }
}

/** Returns the folders of files, with all parent folders. */
function foldersOf(files: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const file of files)
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) folders.add(file.slice(0, end))
  return [...folders]
}

/** Lists the entries of a directory, sorted and relative to the root, without ignored ones. */
async function listDirectory(enclosure: Editor, path: string): Promise<string[]> {
  const { root, paths, git } = enclosure
  const directory = await resolveReadablePath(enclosure, path)
  if (directory === null) throw new MissingFile(`Directory ${path} does not exist`)
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => {
    throw new ToolError(`${path} is not a directory`)
  })
  const prefix = slashed(relative(root, directory))
  const reach = isInside(directory, root) && directory !== root ? await findReach(enclosure) : null
  const names = entries
    .filter((entry) => !isHidden(paths, entry.name))
    // Of a folder around the root, other folders are not shown.
    .filter((entry) => reach === null || !entry.isDirectory() || leadsOn(reach, join(directory, entry.name)))
    .map((entry) => `${prefix ? `${prefix}/` : ''}${entry.name}${entry.isDirectory() ? '/' : ''}`)
  const ignored = await findIgnored(git, root, names)
  return names.filter((name) => !ignored.has(name)).sort()
}

async function findIgnored(git: LocalGit, root: string, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  // The prefix `./` keeps git from reading names like `:(top)x` as patterns. Git repeats it in its output.
  const input = names.map((name) => `./${name}\0`).join('')
  const output = await git(['check-ignore', '-z', '--stdin'], { cwd: root, input })
  return new Set(output.stdout.split('\0').map((name) => name.slice(2)))
}

const leadsOn = (reach: Reach, folder: string): boolean =>
  isUsedFolder(reach, folder) || [...reach.modules].some((module) => isInside(folder, module))

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/** Reads a file that was resolved; null when it is no regular file. Its folders may be changed by an engine. */
async function readChecked({ root }: Enclosure, path: string, target: string): Promise<string | null> {
  const text = await withRegularFile(target, async (handle, size) => {
    const [opened, named] = [await handle.stat(), await lstat(target).catch(() => null)]
    if (named?.ino !== opened.ino || named.dev !== opened.dev || (await realpath(target).catch(() => null)) !== target)
      throw new ToolError(`File '${path}' changed while it was read`)
    return await decode(handle, size, MAX_READ)
  })
  if (text !== null && !isInside(root, target) && PRIVATE_KEY.test(text))
    throw new ToolError(`Path '${path}' is not accessible`)
  return text
}

/** Reads a regular file, cut with a note; null for anything else. The caller has checked its directories. */
export const readText = (path: string, maxCharacters: number): Promise<string | null> =>
  withRegularFile(path, (handle, size) => decode(handle, size, maxCharacters))

async function decode(handle: FileHandle, size: number, maxCharacters: number): Promise<string> {
  // A character takes at most four bytes in UTF-8.
  const bytes = Buffer.alloc(Math.min(size, maxCharacters * 4))
  const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, 0)
  const content = bytes.subarray(0, bytesRead)
  if (content.includes(0)) return `(binary file, ${size} bytes)`
  const text = content.toString('utf8')
  if (text.length <= maxCharacters && bytesRead === size) return text
  return (
    `${text.slice(0, maxCharacters)}\n(cut: the file has ${size} bytes, the first ${maxCharacters} characters ` +
    'are shown)'
  )
}

const MAX_NAMED = 5
/** Minimum length of a name for longer names with that beginning to be near. */
const MIN_BEGINNING = 3

/** Distance added to prefix matches, so that they rank after names that differ in few letters. */
const OF_BEGINNINGS = 1_000

/** Returns up to five paths that a model may have meant: same name, few different letters, then prefixes. */
export function nearPaths(path: string, existing: readonly string[]): string[] {
  const wanted = path
    .replace(/^(\.?\/)+/, '')
    .replace(/\/+$/, '')
    .toLowerCase()
  return existing
    .map((other) => nearnessOf(wanted, other))
    .filter((near) => near !== null)
    .sort((a, b) => a.distance - b.distance || a.whole - b.whole || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_NAMED)
    .map((near) => near.path)
}

/** Returns the edit distance of names and, between equally near ones, of whole paths; null when they are unrelated. */
function nearnessOf(wanted: string, path: string) {
  const other = path.toLowerCase()
  const [name, otherName] = [basename(wanted), basename(other)]
  const whole = editDistance(wanted, other)
  if (otherName === name) return { path, distance: 0, whole }
  const allowed = name.length < 6 ? 1 : Math.max(2, Math.floor(name.length / 4))
  const distance = Math.min(distanceWithin(name, otherName, allowed), whole)
  if (distance <= allowed) return { path, distance, whole }
  return isBeginning(stemOf(name), stemOf(otherName)) ? { path, distance: OF_BEGINNINGS, whole } : null
}

const stemOf = (name: string) => name.replace(/\.[^.]*$/, '')

const isBeginning = (a: string, b: string) =>
  Math.min(a.length, b.length) >= MIN_BEGINNING && (a.startsWith(b) || b.startsWith(a))

interface Search {
  query: string
  case_sensitive?: boolean
  /** Glob of files to search. */
  include_pattern?: string | null
  /** Glob of files to leave out. */
  exclude_pattern?: string | null
}

const MAX_MATCHES = 50
const TIMEOUT_MS = 30_000
const MAX_OUTPUT = 512 * 1024

/**
 * Searches for a regular expression and returns at most 50 lines `file:line:text`, relative to the root, first of the
 * root and then of what it uses outside. Includes dot files; ignored files only if `include_pattern` names them; never
 * git's files, keys or secrets. Errors: `ToolError` for an invalid pattern, and after 30 s.
 */
async function grep(enclosure: Enclosure, search: Search, signal?: AbortSignal): Promise<string[]> {
  const { root } = enclosure
  const reach = await findReach(enclosure)
  const lines = await searchIn(enclosure, search, { folders: [root, ...reach.trees], deep: true, signal })
  const around = [...reach.flat, ...[...reach.files].map(dirname)]
  const folders = [...new Set(around)].filter((folder) => !isUsedFolder({ ...reach, flat: [] }, folder))
  if (folders.length > 0 && lines.length < MAX_MATCHES) {
    const beside = await searchIn(enclosure, search, { folders, deep: false, signal })
    lines.push(...beside.filter((line) => isUsed(reach, join(root, pathOf(line)))))
  }
  return lines.slice(0, MAX_MATCHES).map((line) => line.replace('\0', ':'))
}

const pathOf = (line: string): string => line.slice(0, line.indexOf('\0'))

/** Returns lines with the path, a NUL, and the line's number and text. */
async function searchIn(
  { root, paths }: Enclosure,
  search: Search,
  { folders, deep, signal }: { folders: readonly string[]; deep: boolean; signal?: AbortSignal },
): Promise<string[]> {
  const args = [
    ...[
      '--no-config',
      '--no-follow',
      '--no-ignore-dot',
      '--no-ignore-global',
      '--hidden',
      '--no-heading',
      '--crlf',
      '--line-number',
      '--with-filename',
      '--null',
      '--color=never',
    ],
    ...[
      '--no-messages',
      '--sort=path',
      '--max-columns=500',
      '--max-columns-preview',
      '--max-filesize=5M',
      `--max-count=${MAX_MATCHES}`,
      ...(deep ? [] : ['--max-depth=1']),
    ],
    search.case_sensitive ? '--case-sensitive' : '--ignore-case',
    ...(search.include_pattern ? [`--glob=${search.include_pattern}`] : []),
    ...(search.exclude_pattern ? [`--glob=!${search.exclude_pattern.replace(/^!/, '')}`] : []),
    // Later globs win, so a pattern of the model cannot bring these files back.
    ...[...hiddenNames(paths), ...KEY_FILES].map((name) => `--iglob=!${name}`),
    `--regexp=${search.query}`,
    '--',
    ...folders.map((folder) => `${slashed(relative(root, folder)) || '.'}/`),
  ]
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/dev/null' }
  const limits = { timeoutMs: TIMEOUT_MS, maxOutput: MAX_OUTPUT, signal }
  const output = await runProcess({ file: rgPath, args, cwd: root, env, ...limits })
  signal?.throwIfAborted()
  if (output.stopped === 'timeout')
    throw new ToolError(`The search took longer than ${TIMEOUT_MS / 1000} s; use a simpler pattern`)
  if (output.code === 2 && output.stdout === '')
    throw new ToolError(`The search failed: ${describeFailure(output.stderr, root)}`)
  const lines = output.stdout.split(/\r?\n/).filter(Boolean)
  return lines.slice(0, deep ? MAX_MATCHES : undefined).map((line) => line.replace(/^\.\//, ''))
}

const describeFailure = (stderr: string, root: string): string =>
  stderr.replaceAll(root, '.').trim().slice(0, 1_000) || 'the pattern is not valid'
