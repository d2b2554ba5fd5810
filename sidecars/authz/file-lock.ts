import type { BigIntStats } from 'node:fs'
import { lstat, open, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { identify as identifyProcess, isAlive } from '../../src/runtime/process-identity.ts'

const RETRY_MS = 20
const WAIT_MS = 5_000
/** Age of an abandoned lock: holders need milliseconds. Used only for holders on another host or in a container. */
const STALE_MS = 4_000

export interface HeldLock {
  /** Reports whether the lock is still the holder's. A suspended holder may have lost it to another host. */
  isHeld(): Promise<boolean>
}

/** The process that holds a lock, as the lock file names it. */
const Holder = v.object({ host: v.string(), pid: v.number(), started: v.string() })
type Holder = v.InferOutput<typeof Holder>

/**
 * Runs `work` under the lock file, one process at a time.
 * Errors: `The role store stays locked by another process.` after five seconds; those of `work`.
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

/** Creates the lock file and returns its identity; null when it exists already. */
async function tryLock(path: string): Promise<string | null> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null
    throw error
  })
  if (!handle) return null
  try {
    await handle.writeFile(JSON.stringify({ host: hostname(), ...identifyProcess(process.pid) } satisfies Holder))
    return nameOf(await handle.stat({ bigint: true }))
  } finally {
    await handle.close()
  }
}

/** Returns the identity that distinguishes a lock file from a later one at the same path. */
const nameOf = ({ ino, mtimeNs }: BigIntStats): string => `${ino.toString(36)}-${mtimeNs.toString(36)}`

/** Returns the identity of a lock file and whether its holder is gone; null when there is none. */
async function identify(path: string): Promise<{ name: string; isStale: boolean } | null> {
  const entry = await lstat(path, { bigint: true }).catch(() => null)
  if (!entry) return null
  const holder = entry.isFile() ? await readHolder(path) : null
  const isOld = Date.now() - Number(entry.mtimeMs) > STALE_MS
  const isKnown = holder?.host === hostname() && holder.started !== ''
  return { name: nameOf(entry), isStale: entry.isFile() && (isKnown ? !isAlive(holder) : isOld) }
}

/** Reads the holder that a lock file names; null for one that is being written. */
async function readHolder(path: string): Promise<Holder | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    return v.parse(Holder, JSON.parse(text))
  } catch {
    return null
  }
}

async function removeStale(path: string): Promise<void> {
  const found = await identify(path)
  if (found?.isStale) await removeLock(path, found.name)
}

/**
 * Removes the lock of this identity, and never one that has taken its place: only the creator of the claim file, which
 * has the identity in its name, may remove that lock, be it the holder at its end or another process that found the lock
 * stale. As long as the lock is there, nobody else can put another one in its place.
 */
async function removeLock(path: string, name: string): Promise<void> {
  const claim = `${path}.${name}`
  if ((await tryLock(claim)) === null) {
    if ((await identify(claim))?.isStale) await rm(claim, { force: true })
    return
  }
  try {
    if ((await identify(path))?.name === name) await rm(path, { force: true })
  } finally {
    await rm(claim, { force: true })
  }
}
