import type { Dirent } from 'node:fs'
import { chmod, lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** As many entries as a workspace may have at all (see `limits/refuse.ts`). */
const MAX_ENTRIES = 500_000
const GROUP_READS_AND_WRITES = 0o060
const GROUP_ENTERS = 0o010

/**
 * Gives the folders of a workspace, and the files right inside it, to the user whom the engine runs as. Only a service
 * that is root calls this. Deeper files stay as they are, since the engine only reads them.
 */
export async function handOver(workspace: string, uid: number, gid: number): Promise<void> {
  const own = async (path: string, entry: { isDirectory(): boolean }, isTop: boolean) => {
    if (entry.isDirectory() || isTop) await lchown(path, uid, gid)
  }
  await lchown(workspace, uid, gid)
  await walk(workspace, (path, entry, depth) => own(path, entry, depth === 1))
}

/** Gives a file, or a folder with everything in it, to a user. */
export async function handOverAll(path: string, uid: number, gid: number): Promise<void> {
  await lchown(path, uid, gid)
  await walk(path, (child) => lchown(child, uid, gid))
}

/**
 * Lets the group of a shared workspace change what the engine has made in it. A worker that runs as another user of that
 * group could not remove the workspace otherwise.
 * @param uid the user whom the engine runs as
 */
export async function shareWithGroup(workspace: string, uid: number): Promise<void> {
  const root = await lstat(workspace)
  if (root.uid === uid) return
  await walk(workspace, async (path, entry) => {
    if (entry.isSymbolicLink()) return
    const { uid: owner, mode } = await lstat(path)
    const wanted = mode | GROUP_READS_AND_WRITES | (entry.isDirectory() ? GROUP_ENTERS : 0)
    if (owner === uid && wanted !== mode) await chmod(path, wanted & 0o7777)
  })
}

/** Calls `visit` for every entry, folders first. Links are not followed, and folders that cannot be read are skipped. */
async function walk(
  folder: string,
  visit: (path: string, entry: Dirent, depth: number) => Promise<void>,
): Promise<void> {
  const waiting = [{ path: folder, depth: 1 }]
  let entries = 0
  for (let next = waiting.pop(); next !== undefined && entries < MAX_ENTRIES; next = waiting.pop()) {
    const { path, depth } = next
    const children = await readdir(path, { withFileTypes: true }).catch(() => [])
    entries += children.length
    for (const child of children) {
      const childPath = join(path, child.name)
      await visit(childPath, child, depth).catch(ignoreMissing)
      if (child.isDirectory()) waiting.push({ path: childPath, depth: depth + 1 })
    }
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
