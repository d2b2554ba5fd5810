import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * The mark of the top of a clone, written by the worker (`pipeline/workspace`). `.git` would not do: a workspace that
 * is no clone may lie inside an operator's own clone.
 */
const MARK = '.platform-workspace'
const MAX_LEVELS = 40

/**
 * Returns the folder that a workspace's configuration may read: its clone, the nearest marked folder upwards, else the
 * workspace. A mark from the repository lies inside the clone and can only narrow this. The result is an absolute real
 * path, never the root of the disk.
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
