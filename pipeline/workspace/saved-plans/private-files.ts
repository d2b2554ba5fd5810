import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { MASKS_FILE } from '../files/engine-files.ts'

/** Removes a file directly inside a directory, if it exists. Only the last part of `name` is used. */
export async function removeRightInside(directory: string, name: string): Promise<void> {
  await rm(join(directory, basename(name)), { force: true })
}

/** Writes a file for this user, and with `shared` its group; replaces an entry, so that no link is followed. */
export async function writePrivateFile(
  path: string,
  content: string,
  { shared = false }: { shared?: boolean } = {},
): Promise<void> {
  await rm(path, { recursive: true, force: true })
  const handle = await open(path, 'wx', 0o600)
  try {
    if (shared) await handle.chmod(0o640)
    await handle.writeFile(content)
  } finally {
    await handle.close()
  }
}

/** Reads such a file; null when it is missing, larger than `maxBytes` or no regular file. */
async function readPrivateFile(path: string, maxBytes: number): Promise<string | null> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isFile() || entry.size > maxBytes) return null
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
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
  const text = await readPrivateFile(`${clone}/${MASKS_FILE}`, MAX_BYTES)
  if (text === null) return []
  try {
    const parsed = v.safeParse(MasksSchema, JSON.parse(text))
    return parsed.success ? parsed.output : []
  } catch {
    return []
  }
}
