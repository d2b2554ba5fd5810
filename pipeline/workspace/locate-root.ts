import { realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { badRequest } from '../../src/base/errors.ts'

/**
 * The engine root of a clone: absolute, symlinks resolved, an existing directory inside the clone and
 * outside of git's own.
 * Errors: 400 `iac_path '<path>' is not a directory inside the repository`.
 */
export async function locateRoot(clone: string, iac_path: string | null): Promise<string> {
  const root = await realpath(clone)
  const target = await realpath(join(root, iac_path ?? '.')).catch(() => null)
  const is_directory = target !== null && (await stat(target)).isDirectory()
  if (target !== null && is_directory && isInside(root, target) && !relative(root, target).split(sep).some(isGit))
    return target
  throw badRequest(`iac_path '${iac_path ?? ''}' is not a directory inside the repository`)
}

/** Both real paths; a directory is inside itself. */
export const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

const isGit = (segment: string): boolean => segment.toLowerCase() === '.git'
