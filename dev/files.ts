import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Writes a file next to the target and renames it, so that a reader sees the old or the new text but never a part. */
export async function writeAtomically(
  path: string,
  body: string | Uint8Array | readonly Uint8Array[],
  mode = 0o600,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = await open(temporary, 'wx', mode)
  try {
    if (Array.isArray(body)) await file.writev(body)
    else await file.writeFile(body as string | Uint8Array)
    await file.sync()
  } catch (error) {
    await file.close()
    await rm(temporary, { force: true })
    throw error
  }
  await file.close()
  await rename(temporary, path)
}

/** Reads the text of a file; null when there is none. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Runs `work` with a new folder below `parent`, which is removed at the end. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>, parent = tmpdir()): Promise<T> {
  const folder = await mkdtemp(join(parent, 'platform-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs tasks with the same key one after the other. */
export function createKeyedLock(): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, task) => {
    const previous = tails.get(key) ?? Promise.resolve()
    const current = previous.then(task, task)
    const tail = current.catch(() => {})
    tails.set(key, tail)
    try {
      return await current
    } finally {
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}
