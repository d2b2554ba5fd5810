import type { Dirent, Stats } from 'node:fs'
import { chmod, lchown, lstat, readdir, readlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { MAX_ENTRIES } from '../limits/refuse.ts'
import { SHARED_PATHS } from './bubblewrap.ts'

const READ = 4
const ENTER = 1

/** Reports whether a sandbox of this user can read a path with all its content; false in doubt, as for a device. */
export async function isReadableInside(path: string, user: User, roots = SHARED_PATHS): Promise<boolean> {
  const seen = new Set<string>()
  const folders = new Map<string, Promise<boolean>>()

  async function canPass(folder: string, root: string): Promise<boolean> {
    const entry = await lstat(folder)
    return entry.isDirectory() && allows(entry, user, ENTER) && (folder === root || canPassOnce(dirname(folder), root))
  }

  function canPassOnce(folder: string, root: string): Promise<boolean> {
    const known = folders.get(folder) ?? canPass(folder, root)
    folders.set(folder, known)
    return known
  }

  /** Returns the paths that must be readable as well; null when this one is not. */
  async function read(path: string): Promise<string[] | null> {
    const root = roots.find((root) => path === root || path.startsWith(`${root}/`))
    if (root === undefined || (path !== root && !(await canPassOnce(dirname(path), root)))) return null
    const entry = await lstat(path)
    if (entry.isSymbolicLink()) return [resolve(dirname(path), await readlink(path))]
    if (entry.isFile()) return allows(entry, user, READ) ? [] : null
    if (!entry.isDirectory() || !allows(entry, user, READ | ENTER)) return null
    return (await readdir(path)).map((name) => join(path, name))
  }

  for (let level = [resolve(path)]; level.length > 0; ) {
    for (const path of level) seen.add(path)
    const found = await Promise.all(level.map((path) => read(path).catch(() => null)))
    if (found.includes(null)) return false
    level = [...new Set(found.flatMap((paths) => paths ?? []))].filter((path) => !seen.has(path))
  }
  return true
}

const REMEMBERED_MS = 60_000

/**
 * Creates `isReadableInside` that remembers its answers for a minute: a folder of certificates has hundreds of links,
 * and what the machine shares with every sandbox hardly changes.
 */
export function createReadableInside(): (path: string, user: User) => Promise<boolean> {
  const known = new Map<string, { answer: Promise<boolean>; until: number }>()
  return (path, user) => {
    const key = `${user.uid}:${user.gid}:${path}`
    const found = known.get(key)
    if (found && performance.now() < found.until) return found.answer
    const answer = isReadableInside(path, user)
    known.set(key, { answer, until: performance.now() + REMEMBERED_MS })
    return answer
  }
}

/** Reports whether the mode gives this user all of these rights, a sum of `READ` and `ENTER`. */
function allows({ mode, uid, gid }: Stats, user: User, rights: number): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & rights) === rights
}

/** Number of folders that are read at the same time. */
const AT_ONCE = 16

export interface User {
  uid: number
  gid: number
}

/** Gives the folders of a clone and the files that the engine writes to the engine's user. Skips git's folder. */
export async function handOver(boundary: string, workspace: string, { uid, gid }: User): Promise<void> {
  await lchown(boundary, uid, gid)
  const data = join(workspace, '.terraform')
  const isWritten = (path: string) => dirname(path) === workspace || path.startsWith(`${data}/`)
  await walk(boundary, (path, entry) => (entry.isDirectory() || isWritten(path) ? lchown(path, uid, gid) : null))
}

/** Gives a file, or a folder with all its content, to a user. */
export async function handOverAll(path: string, { uid, gid }: User): Promise<void> {
  await lchown(path, uid, gid)
  await walk(path, (child) => lchown(child, uid, gid))
}

/** Lets the group of a shared workspace change files of the engine's user `uid`, so that the worker can remove them. */
export async function shareWithGroup(workspace: string, uid: number): Promise<void> {
  const root = await lstat(workspace)
  if (root.uid === uid) return
  await walk(workspace, async (path, entry) => {
    if (entry.isSymbolicLink()) return
    const { uid: owner, mode } = await lstat(path)
    // The group reads and writes, and enters folders.
    const wanted = mode | (entry.isDirectory() ? 0o070 : 0o060)
    if (owner === uid && wanted !== mode) await chmod(path, wanted & 0o7777)
  })
}

/** Calls `visit` for every entry outside of git's folder. Links are not followed, unreadable folders are skipped. */
async function walk(folder: string, visit: (path: string, entry: Dirent) => Promise<void> | null): Promise<void> {
  let entries = 0
  for (let level = [folder]; level.length > 0 && entries < MAX_ENTRIES; ) {
    const below: string[] = []
    for (let at = 0; at < level.length; at += AT_ONCE) {
      const folders = level.slice(at, at + AT_ONCE)
      await Promise.all(
        folders.map(async (path) => {
          const all = await readdir(path, { withFileTypes: true }).catch(() => [])
          const children = all.filter(({ name }) => name !== '.git')
          entries += children.length
          for (const child of children) if (child.isDirectory()) below.push(join(path, child.name))
          await Promise.all(children.map((child) => visit(join(path, child.name), child)?.catch(ignoreMissing)))
        }),
      )
    }
    level = below
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
