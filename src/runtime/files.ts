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
const BLOCK_BYTES = 64 * 1024
/** Most bytes of a character of a string in UTF-8. */
const CHARACTER_BYTES = 3
const LINE_FEED = 0x0a

/**
 * Returns a writer of log lines to standard output. Each write is a blocking system call, so the lines of ten
 * milliseconds, at most 64 KiB, are written together. The rest is written when the process exits. Lines wait as bytes
 * outside the heap: as texts they would outlive collections of young garbage, each of which copies what is left.
 */
export function createLineWriter(): (line: string) => void {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  let used = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    if (used === 0) return
    const bytes = Buffer.from(block.subarray(0, used))
    used = 0
    process.stdout.write(bytes)
  }
  process.on('exit', flush)
  return (line) => {
    const most = line.length * CHARACTER_BYTES + 1
    if (used + most > BLOCK_BYTES) flush()
    if (most > BLOCK_BYTES) return void process.stdout.write(`${line}\n`)
    if (used === 0) timer = setTimeout(flush, WAIT_MS)
    used += block.write(line, used)
    block[used++] = LINE_FEED
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
