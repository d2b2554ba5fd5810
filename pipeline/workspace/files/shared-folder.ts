import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Set on a folder whose files belong to its group: worker and iac sidecar then run under different accounts. */
const SETGID = 0o2000

/** True if the engine may run under another account of the same group: the upload folder then has the setgid bit. */
export const isShared = async (uploadFolder: string): Promise<boolean> =>
  await stat(uploadFolder).then(
    ({ mode }) => (mode & SETGID) !== 0,
    () => false,
  )

/**
 * Lets this process create files that its group can use, and nobody else, when the upload folder is shared.
 * @returns whether it is shared
 */
export async function adoptSharedMode(uploadFolder: string): Promise<boolean> {
  const shared = await isShared(uploadFolder)
  if (shared) process.umask(0o007)
  return shared
}

/**
 * Lets the group use a directory with all that is in it. Links are left alone.
 * @param isPrivate whether a name belongs to this account alone
 */
export async function shareTree(directory: string, isPrivate: (name: string) => boolean): Promise<void> {
  await chmod(directory, 0o2770)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await shareTree(path, isPrivate)
    else if (entry.isFile() && !isPrivate(entry.name)) await chmod(path, ((await stat(path)).mode & 0o777) | 0o660)
  }
}
