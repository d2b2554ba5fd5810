import { constants } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'

/** Writes a file that only this user reads. Whatever has the name, a link for example, is not written through. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(content)
  } finally {
    await handle.close()
  }
}

/** The text of such a file; null when there is none, or something that is no regular file. */
export async function readPrivateFile(path: string, max_bytes: number): Promise<string | null> {
  const entry = await lstat(path).catch(() => null)
  if (!entry?.isFile() || entry.size > max_bytes) return null
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
