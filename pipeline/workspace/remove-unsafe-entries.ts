import { lstat, readlink, realpath, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { internal } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/log.ts'
import { type Git, gitText } from './git.ts'
import { isInside } from './locate-root.ts'

/**
 * Takes out of the work tree what must not reach the engine: symlinks that lead out of the clone or
 * into git's own directory (it would follow them to files of the machine or of other sessions), and
 * folders it takes plugins from (it would run programs of the repository). All of it stays on the
 * branch: the index is told not to look, so that no commit deletes it.
 */
export async function removeUnsafeEntries(
  git: Git,
  clone: string,
  options: { log: Logger; signal?: AbortSignal },
): Promise<void> {
  const { log, signal } = options
  const listed = await git.local(['ls-files', '--stage', '-z'], { cwd: clone, signal })
  if (listed.code !== 0) throw internal(gitText(listed, { clone, url: git.url }))
  const root = await realpath(clone)
  const unsafe: string[] = []
  for (const line of listed.stdout.split('\0').filter(Boolean)) {
    const path = line.slice(line.indexOf('\t') + 1)
    if (isPluginFolder(path) || (line.startsWith('120000 ') && (await escapes(root, path)))) unsafe.push(path)
  }
  if (unsafe.length === 0) return
  const input = `${unsafe.join('\0')}\0`
  const marked = await git.local(['update-index', '--skip-worktree', '-z', '--stdin'], { cwd: clone, input, signal })
  if (marked.code !== 0) throw internal(gitText(marked, { clone, url: git.url }))
  for (const path of unsafe) await rm(join(root, path), { force: true })
  log.warn('unsafe entries of the repository were taken out of the work tree', {
    paths: unsafe.slice(0, 20),
    count: unsafe.length,
  })
}

const isPluginFolder = (path: string): boolean =>
  path.split('/').some((segment) => /^(\.terraform|terraform\.d)$/i.test(segment))

/** A link is judged by where it ends; one that ends nowhere by what it says. */
async function escapes(root: string, link: string): Promise<boolean> {
  const path = join(root, link)
  const info = await lstat(path).catch(() => null)
  if (!info?.isSymbolicLink()) return false
  const target = await realpath(path).catch(async () => resolve(dirname(path), await readlink(path)))
  return !isInside(root, target) || isInside(join(root, '.git'), target.split(sep).map(lowerGit).join(sep))
}

const lowerGit = (segment: string): string => (segment.toLowerCase() === '.git' ? '.git' : segment)
