import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../config/types.ts'
import { createLocalGit } from '../git/git.ts'
import type { Workspace } from '../types.ts'

/** The whole text of a file now, and in the last commit. */
export interface Versions {
  current: string
  /** Null for a file that the commit does not have. */
  committed: string | null
}

const MAX_BYTES = 1_000_000

/**
 * Reads a file of the engine root byte for byte. Null for anything but a regular file of at most 1 MB of UTF-8 that no
 * link leads to, and when the last commit has something else under its name.
 * @param path relative to the engine root
 * @param isNew true if the last commit does not have the file
 */
export async function readVersions(
  config: Config,
  { iacRoot, clone: workTree, gitDirectory: directory }: Pick<Workspace, 'iacRoot' | 'clone' | 'gitDirectory'>,
  { path, isNew }: { path: string; isNew: boolean },
  signal?: AbortSignal,
): Promise<Versions | null> {
  const current = await readExactly(join(iacRoot, path))
  if (current === null || isNew) return current === null ? null : { current, committed: null }
  const git = createLocalGit(config.git, { directory, workTree })
  const shown = await git(['cat-file', 'blob', `HEAD:./${path}`], { cwd: iacRoot, maxOutput: MAX_BYTES, signal })
  return shown.code === 0 && !shown.stopped ? { current, committed: shown.stdout } : null
}

async function readExactly(path: string): Promise<string | null> {
  // An engine run can replace the engine root or a folder by a link that leads out of the clone.
  if ((await realpath(path).catch(() => null)) !== path) return null
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null)
  if (handle === null) return null
  try {
    const info = await handle.stat()
    if (!info.isFile() || info.size > MAX_BYTES) return null
    const bytes = await handle.readFile()
    const text = bytes.toString('utf8')
    return Buffer.from(text).equals(bytes) ? text : null
  } finally {
    await handle.close()
  }
}
