import { readdir } from 'node:fs/promises'
import { relative } from 'node:path'
import { ToolError } from '../../src/agent/types.ts'
import { type Enclosure, existingPath, isHidden } from './confine.ts'
import type { LocalGit } from './git.ts'

/**
 * Immediate children of a directory that no ignore rule hides, sorted, relative to the root;
 * directories end with a slash.
 */
export async function listDirectory(enclosure: Enclosure & { git: LocalGit }, path: string): Promise<string[]> {
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
