import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The mark of a clone's top (`pipeline/workspace`); `.git` could belong to an operator's clone around a workspace. */
const MARK = '.platform-workspace'
const MAX_LEVELS = 40

/**
 * Returns the folder that a configuration may read: the nearest marked folder upwards, else the workspace. A mark from
 * the repository can only narrow this. The result is an absolute real path, never the root of the disk.
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
