import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { chmod, type FileHandle, lstat, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { parseJson } from '../../../src/base/json.ts'
import { MASKS_FILE } from './engine-files.ts'

/** Removes a file directly inside a directory, if it exists. Only the last part of `name` is used. */
export async function removeRightInside(directory: string, name: string): Promise<void> {
  await rm(join(directory, basename(name)), { force: true })
}

/** Writes a file for this user, and with `shared` its group; replaces an entry, so that no link is followed. */
export async function writePrivateFile(path: string, content: string, { shared = false }: { shared?: boolean } = {}) {
  await rm(path, { recursive: true, force: true })
  const handle = await open(path, 'wx', 0o600)
  try {
    if (shared) await handle.chmod(0o640)
    await handle.writeFile(content)
  } finally {
    await handle.close()
  }
}

/** Does work on an open regular file; null for anything else, such as a link, which is not followed, or a pipe. */
export async function withRegularFile<Result>(
  path: string,
  work: (handle: FileHandle, bytes: number) => Promise<Result>,
): Promise<Result | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(path, flags).catch(nullIfUnreadable)
  if (handle === null) return null
  try {
    const info = await handle.stat()
    return info.isFile() ? await work(handle, info.size) : null
  } finally {
    await handle.close()
  }
}

/** Reads a regular file as text; null for anything else and for a longer one. */
export const readWhole = (path: string, maxBytes: number): Promise<string | null> =>
  withRegularFile(path, async (handle, bytes) => (bytes > maxBytes ? null : await handle.readFile('utf8')))

/** Returns null for a missing path, symlink, directory or socket; throws other errors. */
export function nullIfUnreadable(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'ENAMETOOLONG'].includes(error.code ?? '')) return null
  throw error
}

/** Returns the lower-case hexadecimal SHA-256 of a regular file; null when it is missing or a link. */
export async function hashFile(path: string): Promise<string | null> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isFile()) return null
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

const MAX_BYTES = 64 * 1024 * 1024
const MasksSchema = v.array(v.string())

/** Stores the values to mask in the output of the apply next to the plan. */
export const writeMasks = (clone: string, masks: readonly string[]): Promise<void> =>
  writePrivateFile(`${clone}/${MASKS_FILE}`, JSON.stringify(masks))

/** Reads the values to mask; none when the file is missing or damaged. */
export async function readMasks(clone: string): Promise<string[]> {
  const text = await readWhole(`${clone}/${MASKS_FILE}`, MAX_BYTES)
  const parsed = v.safeParse(MasksSchema, parseJson(text ?? ''))
  return parsed.success ? parsed.output : []
}

/** The mode bit of a folder whose files belong to its group, when worker and iac sidecar have different accounts. */
const SETGID = 0o2000

/** True if the engine may run under another account of the same group: the upload folder has the setgid bit. */
export async function isShared(uploadFolder: string): Promise<boolean> {
  const folder = await stat(uploadFolder).catch(() => null)
  return folder !== null && (folder.mode & SETGID) !== 0
}

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
