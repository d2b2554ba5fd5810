import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as v from 'valibot'

/** Removes a file right inside a directory; one that is missing is no error. `name` is reduced to its last part. */
export async function removeRightInside(directory: string, name: string): Promise<void> {
  await rm(join(directory, basename(name)), { force: true })
}

/** Writes a file that only this user reads. Whatever has the name, a link for example, is not written through. */
async function writePrivateFile(path: string, content: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(content)
  } finally {
    await handle.close()
  }
}

/** The text of such a file; null when there is none, or something that is no regular file. */
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

/** SHA-256 of a regular file, lower-case hex, read in pieces; null when there is none, a link included. */
export async function hashFile(path: string): Promise<string | null> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isFile()) return null
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** In the root of the clone. Holds what the plan file beside it holds in clear already. */
const NAME = '.platform-masks.json'
const MAX_BYTES = 64 * 1024 * 1024
const masksSchema = v.array(v.string())

/** Keeps what has to be masked in the output of the apply beside the plan. */
export const writeMasks = (clone: string, masks: readonly string[]): Promise<void> =>
  writePrivateFile(`${clone}/${NAME}`, JSON.stringify(masks))

/** None when there is no such file. */
export async function readMasks(clone: string): Promise<string[]> {
  const text = await readPrivateFile(`${clone}/${NAME}`, MAX_BYTES)
  if (text === null) return []
  try {
    const parsed = v.safeParse(masksSchema, JSON.parse(text))
    return parsed.success ? parsed.output : []
  } catch {
    return []
  }
}
