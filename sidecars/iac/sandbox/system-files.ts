import type { Stats } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { User } from './workspace-files.ts'

/** Files of `/etc` that programs read: certificates and names of services, nothing specific to the machine. */
export const ETC = [
  'ssl',
  'pki',
  'ca-certificates',
  'ca-certificates.conf',
  'nsswitch.conf',
  'protocols',
  'services',
  'localtime',
  'mime.types',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
]

/** Paths of the machine that every sandbox has at the same place, read-only. */
const SYSTEM_ROOTS = ['/usr', ...ETC.map((name) => `/etc/${name}`)]
const READ = 4
const ENTER = 1

/** Reports whether a sandbox of this user can read a path with all its content; false in doubt, as for a device. */
export async function isReadableInside(path: string, user: User, roots = SYSTEM_ROOTS): Promise<boolean> {
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

/** Reports whether the mode gives this user all of these rights, a sum of `READ` and `ENTER`. */
function allows({ mode, uid, gid }: Stats, user: User, rights: number): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & rights) === rights
}
