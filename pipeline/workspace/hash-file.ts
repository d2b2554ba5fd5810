import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat } from 'node:fs/promises'

/** SHA-256 of a regular file, lower-case hex, read in pieces; null when there is none, a link included. */
export async function hashFile(path: string): Promise<string | null> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isFile()) return null
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}
