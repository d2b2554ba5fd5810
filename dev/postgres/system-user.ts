import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Who the server runs as. PostgreSQL refuses to run as root. */
export interface SystemUser {
  uid: number
  gid: number
}

/** Null: run as the caller. As root the first of `postgres` and `nobody` that exists. */
export async function serverUser(): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
    } catch {
      // Not on this machine: the next one.
    }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user "postgres" or "nobody" to run it as.')
}

/** Whether every existing folder on the way to `path`, itself included, can be entered by other users. */
export async function othersCanEnter(path: string): Promise<boolean> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const info = await stat(folder).catch(() => null)
    if (info?.isDirectory() && (info.mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
