import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The mode bit of a folder whose files belong to its group, when worker and iac sidecar have different accounts. */
const SETGID = 0o2000

/** True if the engine may run under another account of the same group: the upload folder has the setgid bit. */
export const isShared = async (uploadFolder: string): Promise<boolean> =>
  await stat(uploadFolder).then(
    ({ mode }) => (mode & SETGID) !== 0,
    () => false,
  )

/** Gives the group access to new files when the upload folder is shared. Returns true if it is. */
export async function adoptSharedMode(uploadFolder: string): Promise<boolean> {
  const shared = await isShared(uploadFolder)
  if (shared) process.umask(0o007)
  return shared
}

/** Gives the group access to a directory tree, except links and names of this account only (`isPrivate`). */
export async function shareTree(directory: string, isPrivate: (name: string) => boolean): Promise<void> {
  await chmod(directory, 0o2770)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await shareTree(path, isPrivate)
    else if (entry.isFile() && !isPrivate(entry.name)) await chmod(path, ((await stat(path)).mode & 0o777) | 0o660)
  }
}
