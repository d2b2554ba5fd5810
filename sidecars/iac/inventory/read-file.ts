import { readFile } from 'node:fs/promises'

/** Text of a file; null when there is none at the path, throws when it cannot be read. */
export async function readFileIfAny(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null
    throw error
  }
}
