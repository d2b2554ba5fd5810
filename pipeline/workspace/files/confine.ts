import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { ToolError } from '../../../src/agent/types.ts'
import { badRequest } from '../../../src/base/errors.ts'

/** The engine root and what its tools must never show. */
export interface Enclosure {
  /** Absolute, real path. */
  root: string
  paths: Config['paths']
}

/**
 * Checks a path given by a model without touching the disk and answers it relative to the root, POSIX,
 * without `.` and `..`; empty for the root itself.
 * Errors: `ToolError` for absolute paths, paths that leave the root, and hidden files.
 */
export function relativePath({ paths }: Enclosure, path: string): string {
  if (/[\0\\]/.test(path)) throw new ToolError('Paths must not contain NUL or backslashes')
  if (path.startsWith('/')) throw new ToolError(`Path '${path}' is absolute; paths are relative to the workspace root`)
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') {
      if (segments.pop() === undefined) throw outside(path)
    } else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  if (segments.some((segment) => isHidden(paths, segment))) throw new ToolError(`Path '${path}' is not accessible`)
  return segments.join('/')
}

/**
 * The real, absolute path of something that exists below the root, symlinks resolved and checked
 * again; null when nothing is there.
 */
export async function existingPath(enclosure: Enclosure, path: string): Promise<string | null> {
  const target = await realpath(join(enclosure.root, relativePath(enclosure, path))).catch(missing)
  if (target === null) return null
  assertInside(enclosure, path, target)
  return target
}

/**
 * The absolute path of a file to be written: its directory is real and inside of the root, whether it
 * exists or not; the last segment is left as it is, so that the caller can refuse a symlink.
 */
export async function writablePath(enclosure: Enclosure, path: string): Promise<string> {
  const name = relativePath(enclosure, path)
  if (name === '') throw new ToolError(`Path '${path}' is a directory`)
  let parent = dirname(join(enclosure.root, name))
  const below: string[] = []
  let real = await realpath(parent).catch(missing)
  while (real === null) {
    below.unshift(basename(parent))
    parent = dirname(parent)
    real = await realpath(parent).catch(missing)
  }
  const target = join(real, ...below, basename(name))
  assertInside(enclosure, path, target)
  return target
}

function assertInside({ root, paths }: Enclosure, path: string, target: string): void {
  if (!isInside(root, target)) throw outside(path)
  if (
    relative(root, target)
      .split('/')
      .some((segment) => isHidden(paths, segment))
  )
    throw new ToolError(`Path '${path}' is not accessible`)
}

/**
 * Git's own files, the backend override and the plan, and engine state: the last two hold secrets, and
 * `.terraform/terraform.tfstate` repeats the credentials of the override.
 */
export function isHidden(paths: Config['paths'], segment: string): boolean {
  const name = segment.toLowerCase()
  const files = [paths.backend_override_filename, paths.session_plan_filename]
  return name === '.git' || files.some((file) => file.toLowerCase() === name) || /\.tfstate(\.|$)/.test(name)
}

const outside = (path: string): ToolError => new ToolError(`Path '${path}' is outside of the workspace`)

function missing(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(error.code ?? '')) return null
  throw error
}

/**
 * The engine root of a clone: absolute, symlinks resolved, an existing directory inside the clone and
 * outside of git's own.
 * Errors: 400 `iac_path '<path>' is not a directory inside the repository`.
 */
export async function locateRoot(clone: string, iacPath: string | null): Promise<string> {
  const root = await realpath(clone)
  const target = await realpath(join(root, iacPath ?? '.')).catch(() => null)
  const is_directory = target !== null && (await stat(target)).isDirectory()
  if (target !== null && is_directory && isInside(root, target) && !relative(root, target).split(sep).some(isGit))
    return target
  throw badRequest(`iac_path '${iacPath ?? ''}' is not a directory inside the repository`)
}

/** Both real paths; a directory is inside itself. */
export const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

const isGit = (segment: string): boolean => segment.toLowerCase() === '.git'
