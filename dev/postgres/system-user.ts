import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The user that the server runs as. PostgreSQL refuses to run as root. */
export interface SystemUser {
  uid: number
  gid: number
}

/** Finds the user for the server: for root the first of `postgres` and `nobody`; null for any other caller. */
export async function findServerUser(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      // This machine does not have the user, so the next one is tried.
    }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user "postgres" or "nobody" to run it as.')
}

/** True if other users can enter every existing folder on the way to `path`, itself included. */
export async function canOthersEnter(path: string): Promise<boolean> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const info = await stat(folder).catch(() => null)
    if (info?.isDirectory() && (info.mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
