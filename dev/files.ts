import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { replaceFile } from '../src/runtime/files.ts'

export { readTextFile as readText } from '../src/runtime/files.ts'

/** Replaces a file, so that a reader sees the old or the new text but never a part. Makes its folder first. */
export async function writeAtomically(path: string, body: string | Uint8Array, mode = 0o600): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await replaceFile(path, body, mode)
}

/** Runs `work` with a new folder, which is removed at the end. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-'))
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
