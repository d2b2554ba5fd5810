import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

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

const WAIT_MS = 10
const MAX_LINES = 200

/**
 * For the log of a process: lines of ten milliseconds go out together, because each write is a call to
 * the system that holds the process up. Nothing is kept at the end of the process.
 */
export function createLineWriter(): (line: string) => void {
  let lines: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    if (lines.length === 0) return
    const text = lines.join('\n')
    lines = []
    console.log(text)
  }
  process.on('exit', flush)
  return (line) => {
    const count = lines.push(line)
    if (count === 1) timer = setTimeout(flush, WAIT_MS)
    else if (count >= MAX_LINES) flush()
  }
}

/** Stores recordings in a folder, readable by the owner only; a file is there whole or not at all. */
export const createRecordingWriter =
  (folder: string) =>
  async (name: string, text: string): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, name)
    await writeFile(`${path}.tmp`, text, { mode: 0o600 })
    await rename(`${path}.tmp`, path)
  }
