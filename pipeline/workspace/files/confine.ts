import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { ToolError } from '../../../src/agent/agent-request.ts'
import { badRequest } from '../../../src/base/errors.ts'
import { joinPath } from '../../../src/base/text.ts'
import { isHidden } from './engine-files.ts'
import { nullIfUnreadable } from './private-files.ts'

/** The engine root, and the configured names of files that tools must never show. */
export interface Enclosure {
  /** Absolute, real path. */
  root: string
  /** Absolute path of the clone that holds the root. */
  clone: string
  paths: Config['paths']
}

/**
 * Returns a model's path relative to the root, empty for the root.
 * @throws `ToolError` for absolute paths, paths that leave the root, and hidden files
 */
export function toRelativePath({ paths }: Pick<Enclosure, 'paths'>, path: string): string {
  assertForm(path)
  const relativePath = joinPath('', path)
  if (relativePath === null) throw readOnlyError(path)
  assertVisible(paths, path, relativePath)
  return relativePath
}

/** Returns a path as the disk spells it: accents that are letters of their own there are often composed by a model. */
export async function asOnDisk(root: string, path: string): Promise<string> {
  if (/^[\x20-\x7e]*$/.test(path)) return path
  let found = ''
  for (const segment of path.split('/')) {
    const names = await readdir(join(root, found)).catch((): string[] => [])
    const wanted = segment.normalize('NFC')
    const name = names.includes(segment) ? segment : names.find((one) => one.normalize('NFC') === wanted)
    found += `${found === '' ? '' : '/'}${name ?? segment}`
  }
  return found
}

export function assertForm(path: string): void {
  if (/[\0\\]/.test(path)) throw new ToolError('Paths must not contain NUL or backslashes')
  if (path.startsWith('/')) throw new ToolError(`Path '${path}' is absolute; paths are relative to the workspace root`)
}

/** Refuses the names of git's files and of files with secrets. */
export function assertVisible(paths: Enclosure['paths'], path: string, relativePath: string): void {
  if (relativePath.split('/').some((segment) => isHidden(paths, segment)))
    throw new ToolError(`Path '${path}' is not accessible`)
}

/** Returns the real path of an existing entry below the root, resolved and checked. Null when there is none. */
export async function resolveExistingPath(enclosure: Enclosure, path: string): Promise<string | null> {
  const target = await realpath(join(enclosure.root, toRelativePath(enclosure, path))).catch(nullIfUnreadable)
  if (target === null) return null
  assertInside(enclosure, path, target)
  return target
}

/** Returns the absolute path of a file to write. Its last segment is not resolved; the caller checks symlinks. */
export async function resolveWritablePath(enclosure: Enclosure, path: string): Promise<string> {
  const name = toRelativePath(enclosure, path)
  if (name === '') throw new ToolError(`Path '${path}' is a directory`)
  let parent = dirname(join(enclosure.root, name))
  const below: string[] = []
  let real = await realpath(parent).catch(nullIfUnreadable)
  while (real === null) {
    below.unshift(basename(parent))
    parent = dirname(parent)
    real = await realpath(parent).catch(nullIfUnreadable)
  }
  const target = join(real, ...below, basename(name))
  assertInside(enclosure, path, target)
  return target
}

function assertInside({ root, paths }: Enclosure, path: string, target: string): void {
  if (!isInside(root, target)) throw readOnlyError(path)
  assertVisible(paths, path, relative(root, target))
}

const readOnlyError = (path: string): ToolError =>
  new ToolError(
    `Path '${path}' is outside of the workspace. What the code uses there can be read but not changed, because other ` +
      'roots of the repository may use it as well. Change the files of the workspace, and where that is not enough, ' +
      'say in your summary what has to be changed in which file.',
  )

export const outsideError = (path: string): ToolError => new ToolError(`Path '${path}' is outside of the workspace`)

/**
 * Returns the real path of the engine root.
 * @throws 400 `iac_path '<path>' is not a directory inside the repository`
 */
export async function locateRoot(clone: string, iacPath: string | null): Promise<string> {
  const root = await realpath(clone)
  const target = await realpath(join(root, iacPath ?? '.')).catch(() => null)
  const isDirectory = target !== null && (await stat(target)).isDirectory()
  if (target !== null && isDirectory && isInside(root, target) && !relative(root, target).split(sep).some(isGit))
    return target
  throw badRequest(`iac_path '${iacPath ?? ''}' is not a directory inside the repository`)
}

/** True if a path is the root or below it. Both must be real paths, without symlinks. */
export const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

/** Returns the real target of a symlink, or its path when nothing is there. Null for anything else. */
export async function resolveLink(path: string): Promise<string | null> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isSymbolicLink()) return null
  return await realpath(path).catch(async () => resolve(dirname(path), await readlink(path)))
}

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40

/**
 * Returns what a path in a clone means, with slashes and relative to the clone, empty for the clone itself; null when it
 * leads out of the clone. Links are followed, and what is missing is taken to be no link.
 * @param root absolute, real path of the clone
 * @param left receives the folders that the path enters and leaves again, which must exist for a link to be followed
 */
export async function resolveInside(root: string, path: string, left: string[] = []): Promise<string | null> {
  const real: string[] = []
  const waiting = path.split('/').reverse()
  for (let [links, next] = [0, waiting.pop()]; next !== undefined; next = waiting.pop()) {
    if (next === '' || next === '.') continue
    if (next === '..' && real.length === 0) return null
    if (next === '..') {
      left.push(real.join('/'))
      real.pop()
    } else {
      const target = await readlink(join(root, ...real, next)).catch(() => null)
      if (target === null || ++links > MAX_LINKS) real.push(next)
      else if (target.startsWith('/')) return null
      else waiting.push(...target.split('/').reverse())
    }
  }
  return real.join('/')
}

const isGit = (segment: string): boolean => segment.toLowerCase() === '.git'
