import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/**
 * Text of a regular file, cut with a note when longer; null when it is no regular file, and also when
 * the last segment of the path is a symlink.
 * @param path absolute; its directories have been checked by the caller
 */
export async function readText(path: string, max_characters: number): Promise<string | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    unlessExpected,
  )
  if (handle === null) return null
  try {
    const info = await handle.stat()
    return info.isFile() ? await decode(handle, info.size, max_characters) : null
  } finally {
    await handle.close()
  }
}

async function decode(handle: FileHandle, size: number, max_characters: number): Promise<string> {
  // A character takes at most four bytes in UTF-8.
  const bytes = Buffer.alloc(Math.min(size, max_characters * 4))
  const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, 0)
  const content = bytes.subarray(0, bytesRead)
  if (content.includes(0)) return `(binary file, ${size} bytes)`
  const text = content.toString('utf8')
  if (text.length <= max_characters && bytesRead === size) return text
  return `${text.slice(0, max_characters)}\n(cut: the file has ${size} bytes, the first ${max_characters} characters are shown)`
}

/** Missing, a symlink, a directory, a socket: not readable as text. Anything else is a fault of the machine. */
function unlessExpected(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'ENAMETOOLONG'].includes(error.code ?? '')) return null
  throw error
}
