import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type HeldLock, withFileLock } from './file-lock.ts'
import { parseStore, renderStore, type Users } from './store-document.ts'

/** Users and their roles in one JSON file, which other processes may write too. */
export interface RoleStore {
  /** Reads the users; none when the file is missing. Errors: `DamagedStore`. */
  read(): Promise<Users>
  /** Writes the users if `change` returns true, one at a time across processes. Errors: `DamagedStore`; file system. */
  change(change: (users: Users) => boolean): Promise<void>
}

/** Opens the store at a path. The disk is not touched before the first call. */
export function openRoleStore(path: string): RoleStore {
  let last: Promise<unknown> = Promise.resolve()
  const read = async (): Promise<Users> => {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    return text === null ? new Map() : parseStore(text)
  }
  const apply = async (change: (users: Users) => boolean) => {
    if (!change(await read())) return
    await mkdir(dirname(path), { recursive: true })
    await withFileLock(`${path}.lock`, async (lock) => {
      const users = await read()
      if (change(users)) await replace(path, renderStore(users), lock)
    })
  }
  return {
    read,
    change(change) {
      const done = last.then(() => apply(change))
      last = done.catch(() => {})
      return done
    },
  }
}

/** Replaces the file atomically: readers, and a restart after a crash, find the old or the new one. */
async function replace(path: string, text: string, lock: HeldLock): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (!(await lock.isHeld())) throw new Error('The lock of the role store was taken by another process.')
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
