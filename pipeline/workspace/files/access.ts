import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { ToolError } from '../../../src/agent/types.ts'
import { createLocalGit, type LocalGit } from '../git/git.ts'
import type { Workspace } from '../types.ts'
import { type Enclosure, existingPath, isHidden } from './confine.ts'
import { doesNotExist, removeFile, replaceInText, writeText } from './edit.ts'
import { grep, type Search } from './grep.ts'

/**
 * The files of an engine root as an agent may use them. Every path is relative to the root; nothing
 * outside of it, of git, of the backend override or of engine state is shown or changed. Whatever is
 * refused is a `ToolError` whose text is for the model.
 */
export interface FileAccess {
  /** Text, cut with a note after 200,000 characters. */
  read(path: string): Promise<string>
  /** Creates directories, overwrites. Only `tf` and `tfvars` files, here and below. */
  write(path: string, content: string): Promise<void>
  /** Search/replace blocks, all or none. */
  replace(path: string, diff: string): Promise<void>
  remove(path: string): Promise<void>
  /** Immediate children; directories end with a slash. */
  list(path: string): Promise<string[]>
  /** Every file below the root that no ignore rule hides, with its size in bytes; links and dot files left out. */
  survey(signal?: AbortSignal): Promise<SurveyedFile[]>
  /** Lines `file:line:text`, at most 50. */
  grep(search: Search, signal?: AbortSignal): Promise<string[]>
}

const MAX_READ = 200_000

export function createFileAccess(config: Config, workspace: Pick<Workspace, 'iac_root'>): FileAccess {
  const editor = { root: workspace.iac_root, paths: config.paths, git: createLocalGit(config.git) }
  return {
    read: async (path) => {
      const target = await existingPath(editor, path)
      const text = target === null ? null : await readText(target, MAX_READ)
      if (text === null) throw doesNotExist(path)
      return text
    },
    write: (path, content) => writeText(editor, path, content),
    replace: (path, diff) => replaceInText(editor, path, diff),
    remove: (path) => removeFile(editor, path),
    list: (path) => listDirectory(editor, path),
    survey: (signal) => survey(editor, signal),
    grep: (search, signal) => grep(editor, search, signal),
  }
}

/**
 * Immediate children of a directory that no ignore rule hides, sorted, relative to the root;
 * directories end with a slash.
 */
async function listDirectory(enclosure: Enclosure & { git: LocalGit }, path: string): Promise<string[]> {
  const { root, paths, git } = enclosure
  const directory = await existingPath(enclosure, path)
  if (directory === null) throw new ToolError(`Directory ${path} does not exist`)
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => {
    throw new ToolError(`${path} is not a directory`)
  })
  const prefix = relative(root, directory)
  const names = entries
    .filter((entry) => !isHidden(paths, entry.name))
    .map((entry) => `${prefix ? `${prefix}/` : ''}${entry.name}${entry.isDirectory() ? '/' : ''}`)
  const ignored = await ignoredOf(git, root, names)
  return names.filter((name) => !ignored.has(name)).sort()
}

async function ignoredOf(git: LocalGit, root: string, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  // The prefix keeps names from being read as pathspec magic; it is repeated in the answer.
  const input = names.map((name) => `./${name}\0`).join('')
  const output = await git(['check-ignore', '-z', '--stdin'], { cwd: root, input })
  return new Set(output.stdout.split('\0').map((name) => name.slice(2)))
}

export interface SurveyedFile {
  /** POSIX, relative to the root. */
  path: string
  bytes: number
}

/** More files than a model could be told of. */
const MAX_FILES = 2_000

/** Files below the root, in the order of git; what is hidden from models, dot files and links are left out. */
async function survey(
  { root, paths, git }: Enclosure & { git: LocalGit },
  signal?: AbortSignal,
): Promise<SurveyedFile[]> {
  const listed = await git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, signal })
  if (listed.code !== 0) return []
  const names = [...new Set(listed.stdout.split('\0'))].filter(
    (name) => name !== '' && !name.split('/').some(hides(paths)),
  )
  const files = await Promise.all(names.slice(0, MAX_FILES).map((path) => measured(root, path)))
  return files.filter((file) => file !== null)
}

const hides = (paths: Enclosure['paths']) => (segment: string) => segment.startsWith('.') || isHidden(paths, segment)

/** Null for what is no file: a link, a submodule, or gone. */
async function measured(root: string, path: string): Promise<SurveyedFile | null> {
  try {
    const found = await lstat(join(root, path))
    return found.isFile() ? { path, bytes: found.size } : null
  } catch {
    return null
  }
}

/**
 * Text of a regular file, cut with a note when longer; null when it is no regular file, and also when
 * the last segment of the path is a symlink.
 * @param path absolute; its directories have been checked by the caller
 */
export async function readText(path: string, maxCharacters: number): Promise<string | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    unlessExpected,
  )
  if (handle === null) return null
  try {
    const info = await handle.stat()
    return info.isFile() ? await decode(handle, info.size, maxCharacters) : null
  } finally {
    await handle.close()
  }
}

async function decode(handle: FileHandle, size: number, maxCharacters: number): Promise<string> {
  // A character takes at most four bytes in UTF-8.
  const bytes = Buffer.alloc(Math.min(size, maxCharacters * 4))
  const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, 0)
  const content = bytes.subarray(0, bytesRead)
  if (content.includes(0)) return `(binary file, ${size} bytes)`
  const text = content.toString('utf8')
  if (text.length <= maxCharacters && bytesRead === size) return text
  return `${text.slice(0, maxCharacters)}\n(cut: the file has ${size} bytes, the first ${maxCharacters} characters are shown)`
}

/** Missing, a symlink, a directory, a socket: not readable as text. Anything else is a fault of the machine. */
function unlessExpected(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'ENAMETOOLONG'].includes(error.code ?? '')) return null
  throw error
}
