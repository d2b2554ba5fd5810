import type { BigIntStats } from 'node:fs'
import { lstat, open, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 20
const WAIT_MS = 5_000
/** A holder is done within milliseconds, so an older lock was left behind by a crash. */
const STALE_MS = 10_000

/** The lock as its holder sees it. */
export interface HeldLock {
  /** Whether the lock is still the holder's own. One that was held for too long may have been taken by another. */
  isHeld(): Promise<boolean>
}

/**
 * Runs `work` while no other process does with the same lock file.
 * Errors: `The role store stays locked by another process.`; those of `work`.
 */
export async function withFileLock<T>(path: string, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_MS
  let own = await tryLock(path)
  while (own === null) {
    if (performance.now() > deadline) throw new Error('The role store stays locked by another process.')
    await removeStale(path)
    await sleep(RETRY_MS)
    own = await tryLock(path)
  }
  const name = own
  try {
    return await work({ isHeld: async () => (await identify(path))?.name === name })
  } finally {
    await removeLock(path, name)
  }
}

/** Creates the lock file and answers its identity; null when there is one already. */
async function tryLock(path: string): Promise<string | null> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null
    throw error
  })
  if (!handle) return null
  try {
    return nameOf(await handle.stat({ bigint: true }))
  } finally {
    await handle.close()
  }
}

/** What distinguishes a lock file from a later one at the same path. */
const nameOf = ({ ino, mtimeNs }: BigIntStats): string => `${ino.toString(36)}-${mtimeNs.toString(36)}`

/** The identity and the age of a lock file; null when there is none. */
async function identify(path: string): Promise<{ name: string; ageMs: number; isFile: boolean } | null> {
  const entry = await lstat(path, { bigint: true }).catch(() => null)
  if (!entry) return null
  return { name: nameOf(entry), ageMs: Date.now() - Number(entry.mtimeMs), isFile: entry.isFile() }
}

async function removeStale(path: string): Promise<void> {
  const found = await identify(path)
  if (found?.isFile && found.ageMs > STALE_MS) await removeLock(path, found.name)
}

/**
 * Removes the lock of this identity, and never one that has taken its place: whoever creates the claim, which has the
 * identity in its name, is the only one who may remove that lock, be it the holder at its end or somebody who found
 * the lock stale. As long as the lock is there, nobody else can put another one in its place.
 */
async function removeLock(path: string, name: string): Promise<void> {
  const claim = `${path}.${name}`
  if ((await tryLock(claim)) === null) {
    // Who has the claim is done within milliseconds, too, unless it crashed in the middle.
    const claimed = await identify(claim)
    if (claimed && claimed.ageMs > STALE_MS) await rm(claim, { force: true })
    return
  }
  try {
    if ((await identify(path))?.name === name) await rm(path, { force: true })
  } finally {
    await rm(claim, { force: true })
  }
}
