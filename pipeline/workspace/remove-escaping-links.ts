import { lstat, readlink, realpath, unlink } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import type { Logger } from '../../src/log/logger.ts'
import type { Git } from './git.ts'
import { isInside } from './locate-root.ts'

/**
 * Takes symlinks that lead out of the clone, or into git's own directory, out of the work tree: the
 * engine would follow them to files of the machine or of other sessions. They stay in the repository:
 * the index is told not to look, so that no commit deletes them.
 */
export async function removeEscapingLinks(git: Git, clone: string, options: { log: Logger; signal?: AbortSignal }): Promise<void> {
  const { log, signal } = options
  const listed = await git.local(['ls-files', '--stage', '-z'], { cwd: clone, signal })
  const links = listed.stdout
    .split('\0')
    .filter((line) => line.startsWith('120000 '))
    .map((line) => line.slice(line.indexOf('\t') + 1))
  const root = await realpath(clone)
  const escaping: string[] = []
  for (const link of links) if (await escapes(root, link)) escaping.push(link)
  if (escaping.length === 0) return
  await git.local(['update-index', '--skip-worktree', '-z', '--stdin'], { cwd: clone, input: `${escaping.join('\0')}\0`, signal })
  for (const link of escaping) await unlink(join(root, link))
  log.warn('symlinks that leave the repository were taken out of the work tree', { links: escaping.slice(0, 20), count: escaping.length })
}

/** A link is judged by where it ends; one that ends nowhere by what it says. */
async function escapes(root: string, link: string): Promise<boolean> {
  const path = join(root, link)
  const info = await lstat(path).catch(() => null)
  if (!info?.isSymbolicLink()) return false
  const target = await realpath(path).catch(async () => resolve(dirname(path), await readlink(path)))
  return !isInside(root, target) || isInside(join(root, '.git'), target.split(sep).map(lowerGit).join(sep))
}

const lowerGit = (segment: string): string => (segment.toLowerCase() === '.git' ? '.git' : segment)
