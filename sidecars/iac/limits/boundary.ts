import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Marks the top of a clone. The worker writes it into every one (`pipeline/workspace`). The name `.git` would not do: a
 * workspace that is no clone may lie somewhere inside of an operator's own one.
 */
const MARK = '.platform-workspace'
const MAX_LEVELS = 40

/**
 * The folder that the configuration of a workspace may read: the clone that it is in, which is the nearest folder from
 * the workspace upwards that is marked as one; the workspace itself where there is none. A mark that a repository brings
 * lies inside of the clone, and can only make this folder smaller.
 * @param workspacePath absolute
 * @returns an absolute real path, never the root of the disk
 */
export async function findBoundary(workspacePath: string): Promise<string> {
  const workspace = await realpath(workspacePath)
  let folder = workspace
  for (let level = 0; level < MAX_LEVELS && dirname(folder) !== folder; level++) {
    const entry = await lstat(join(folder, MARK)).catch(() => null)
    if (entry?.isFile()) return folder
    folder = dirname(folder)
  }
  return workspace
}
