import { open, rm, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 20
const WAIT_MS = 5_000
/** A holder is done within milliseconds, so an older lock was left behind by a crash. */
const STALE_MS = 10_000

/**
 * Runs `work` while no other process does with the same lock file.
 * Errors: `The role store stays locked by another process.`; those of `work`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_MS
  while (!(await tryLock(path))) {
    if (performance.now() > deadline) throw new Error('The role store stays locked by another process.')
    await removeStale(path)
    await sleep(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function removeStale(path: string): Promise<void> {
  const entry = await stat(path).catch(() => null)
  if (entry && Date.now() - entry.mtimeMs > STALE_MS) await rm(path, { force: true })
}
