import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Enclosure, isHidden } from './confine.ts'
import type { LocalGit } from './git.ts'

export interface SurveyedFile {
  /** POSIX, relative to the root. */
  path: string
  bytes: number
}

/** More files than a model could be told of. */
const MAX_FILES = 2_000

/** Files below the root, in the order of git; what is hidden from models, dot files and links are left out. */
export async function survey(
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
