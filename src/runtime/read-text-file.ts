import { readFile, stat } from 'node:fs/promises'

/**
 * UTF-8 text of a regular file; null when the path is missing or something else than a file.
 * Throws when the file exists but cannot be read.
 */
export async function readTextFile(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isFile() ? await readFile(path, 'utf8') : null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
