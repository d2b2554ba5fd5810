import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Name of the directory with a session's reviewed plan. */
export const PINNED = 'pinned'
/** First part of the name of a pinned directory that was given up while an engine might still run in it. */
export const ENDED = 'ended-'
const ASIDE = 'pinned.old-'

/** Whether a directory is an earlier pinned one that was moved aside. */
export const isAside = (name: string): boolean => name.startsWith(ASIDE)

/**
 * Makes a run's directory the session's pinned one. The earlier one is first moved aside and removed at the end, so
 * that at every moment one of the two exists.
 */
export async function pinDirectory(directory: string): Promise<void> {
  const session = dirname(directory)
  const aside = join(session, ASIDE + randomBytes(4).toString('hex'))
  const hadOne = await rename(join(session, PINNED), aside).then(() => true, falseIfMissing)
  await rename(directory, join(session, PINNED))
  if (hadOne) await rm(aside, { recursive: true, force: true })
}

/**
 * Removes everything that earlier runs of a session have left, except the pinned directory. When a crash came between
 * the two renames of `pinDirectory`, the directory that was moved aside becomes the pinned one again.
 * @param session absolute path of the session's folder, which need not exist
 */
export async function removeLeftovers(session: string): Promise<void> {
  const names = (await readdir(session).catch(falseIfMissing)) || []
  const hasPinned = names.includes(PINNED)
  const [restored] = hasPinned ? [] : await sortNewestFirst(session, names.filter(isAside))
  if (restored) await rename(join(session, restored), join(session, PINNED))
  for (const name of names)
    if (name !== PINNED && name !== restored) await rm(join(session, name), { recursive: true, force: true })
}

async function sortNewestFirst(session: string, names: string[]): Promise<string[]> {
  const dated = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(session, name))).ctimeMs })),
  )
  return dated.sort((a, b) => b.time - a.time).map(({ name }) => name)
}

function falseIfMissing(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false
  throw error
}
