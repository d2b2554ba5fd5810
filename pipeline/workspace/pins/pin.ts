import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Name of a session's reviewed directory. */
export const PINNED = 'pinned'
const ASIDE = 'pinned.old-'

/** Whether a directory is an earlier pinned one that was moved aside. */
export const isAside = (name: string): boolean => name.startsWith(ASIDE)

/**
 * Makes a call directory the session's reviewed one. The earlier one is moved aside first and removed
 * last, so that at every moment one of the two exists.
 */
export async function pinDirectory(directory: string): Promise<void> {
  const session = dirname(directory)
  const aside = join(session, ASIDE + randomBytes(4).toString('hex'))
  const hadOne = await rename(join(session, PINNED), aside).then(() => true, unlessMissing)
  await rename(directory, join(session, PINNED))
  if (hadOne) await rm(aside, { recursive: true, force: true })
}

/**
 * Leaves nothing of earlier runs of a session but the pinned directory. Where a crash came between
 * the two renames of a pin, the one put aside is the pinned one again.
 * @param session absolute path; it may not exist yet
 */
export async function removeLeftovers(session: string): Promise<void> {
  const names = (await readdir(session).catch(unlessMissing)) || []
  const hasPinned = names.includes(PINNED)
  const [restored] = hasPinned ? [] : await newestFirst(session, names.filter(isAside))
  if (restored) await rename(join(session, restored), join(session, PINNED))
  for (const name of names)
    if (name !== PINNED && name !== restored) await rm(join(session, name), { recursive: true, force: true })
}

async function newestFirst(session: string, names: string[]): Promise<string[]> {
  const dated = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(session, name))).ctimeMs })),
  )
  return dated.sort((a, b) => b.time - a.time).map(({ name }) => name)
}

function unlessMissing(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false
  throw error
}
