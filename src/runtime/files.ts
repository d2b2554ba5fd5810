import type { Dirent } from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Reads the UTF-8 text of a regular file; null when there is none. Throws when the file cannot be read. */
export async function readTextFile(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isFile() ? await readFile(path, 'utf8') : null
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

type EntryKind = Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>

/** Lists the entries of a folder, names as bytes. Bun returns names alone when kinds are requested too. */
export async function listEntries(folder: Buffer): Promise<{ name: Buffer; kind: EntryKind }[]> {
  const listed: unknown[] = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  return await Promise.all(
    listed.map(async (entry) =>
      Buffer.isBuffer(entry)
        ? { name: entry, kind: await lstat(Buffer.concat([folder, Buffer.from('/'), entry])) }
        : { name: (entry as Dirent<Buffer>).name, kind: entry as Dirent<Buffer> },
    ),
  )
}

const WAIT_MS = 10
const MAX_LINES = 200

/**
 * Returns a writer of log lines to standard output. Each write is a blocking system call, so the lines of ten
 * milliseconds, at most 200, are written together. The rest is written when the process exits.
 */
export function createLineWriter(): (line: string) => void {
  let lines: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    if (lines.length === 0) return
    const text = `${lines.join('\n')}\n`
    lines = []
    process.stdout.write(text)
  }
  process.on('exit', flush)
  return (line) => {
    const count = lines.push(line)
    if (count === 1) timer = setTimeout(flush, WAIT_MS)
    else if (count >= MAX_LINES) flush()
  }
}

/** Replaces a file atomically, by default readable by the owner only. Errors: those of the file system. */
export async function replaceFile(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600 })
    await chmod(temporary, mode)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Returns a writer of texts into a folder, readable by the owner only. Files are renamed once complete. */
export const createRecordingWriter =
  (folder: string) =>
  async (name: string, text: string): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await replaceFile(join(folder, name), text)
  }
