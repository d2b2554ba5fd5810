import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { lstat, opendir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../../src/base/log.ts'
import { isUuid, type Standing } from '../../../src/sessions/find.ts'
import { isAside, PINNED } from './pin.ts'

const HOUR_MS = 3_600_000
/** An engine that nobody heard of again may still run in a directory that was moved aside. */
const ENDED = 'ended-'
const ENDED_AGE_MS = 24 * HOUR_MS
/** Beside the session folders, where no round looks: what is on its way out. */
const LEAVING = '.swept-'
const BATCH = 200

export interface SweepOptions {
  /** Standings by uuid; a session that is missing is not known. */
  standings(uuids: readonly string[]): Promise<Map<string, Standing>>
  now: Date
  log: Logger
  signal: AbortSignal
  /** Sessions whose leftovers are removed by one sweep; default 500. */
  limit?: number
}

export interface Swept {
  /** Entries of session folders that are gone. */
  removed: number
  /** Folders of sessions that the database does not know. They stay. */
  unknown: number
}

/**
 * Removes what idle sessions left on this disk an hour ago or earlier, the pinned directory of a session
 * that can still apply excepted. Whatever cannot be removed is logged and stays.
 * Errors: those of the look into the folder itself and of `standings`.
 */
export async function sweepWorkspaces(uploadFolder: string, options: SweepOptions): Promise<Swept> {
  const swept = { removed: 0, unknown: 0 }
  let left = options.limit ?? 500
  for await (const uuids of sessionFolders(uploadFolder, options.log)) {
    const standings = await options.standings(uuids)
    for (const uuid of uuids) {
      if (options.signal.aborted || left <= 0) return swept
      const standing = standings.get(uuid)
      if (!standing) swept.unknown++
      if (!standing || standing.in_flight) continue
      const removed = await sweepSession(uploadFolder, standing, options).catch((error: NodeJS.ErrnoException) => {
        // Somebody else removed it meanwhile.
        if (error.code !== 'ENOENT')
          options.log.warn('leftovers of a session could not be removed', { session_id: uuid, error })
        return 0
      })
      swept.removed += removed
      if (removed > 0) left--
    }
  }
  return swept
}

/** Names of the sessions' folders in batches; what an earlier sweep did not finish is finished by the way. */
async function* sessionFolders(uploadFolder: string, log: Logger): AsyncGenerator<string[]> {
  let batch: string[] = []
  for await (const entry of await openFolder(uploadFolder)) {
    if (!entry.isDirectory()) continue
    if (entry.name.startsWith(LEAVING)) await finish(join(uploadFolder, entry.name), log)
    if (!isUuid(entry.name) || entry.name !== entry.name.toLowerCase()) continue
    batch.push(entry.name)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Before the first round the folder may not exist. */
async function openFolder(uploadFolder: string): Promise<AsyncIterable<Dirent>> {
  return await opendir(uploadFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return nothing()
    throw error
  })
}

async function* nothing(): AsyncGenerator<Dirent> {}

async function finish(path: string, log: Logger): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error: unknown) =>
    log.warn('leftovers could not be removed', { error }),
  )
}

async function sweepSession(uploadFolder: string, standing: Standing, options: SweepOptions): Promise<number> {
  const { uuid } = standing
  const session = join(uploadFolder, uuid)
  const names = await readdir(session)
  const needed = neededName(standing, names)
  let removed = 0
  for (const name of names) {
    if (
      needed(name) ||
      !(await isOld(join(session, name), name.startsWith(ENDED) ? ENDED_AGE_MS : HOUR_MS, options.now))
    )
      continue
    if (!(await isUnchanged(standing, options))) return removed
    const leaving = join(uploadFolder, LEAVING + randomBytes(8).toString('hex'))
    // At once and out of the way of a round that begins now; removing takes its time.
    await rename(join(session, name), leaving)
    await rm(leaving, { recursive: true, force: true })
    removed++
  }
  const isEmpty = names.length === 0 && (await isOld(session, HOUR_MS, options.now))
  if (isEmpty && (await isUnchanged(standing, options))) await rmdir(session)
  return removed
}

/** Without a pinned directory, the one that a crash left aside is the pinned one. */
function neededName({ has_seal, last_status }: Standing, names: string[]): (name: string) => boolean {
  if (!has_seal || last_status === 'failed') return () => false
  return names.includes(PINNED) ? (name) => name === PINNED : isAside
}

/** Moving a directory counts as well as changing it. */
async function isOld(path: string, ageMs: number, now: Date): Promise<boolean> {
  const { ctimeMs, mtimeMs } = await lstat(path)
  return now.getTime() - Math.max(ctimeMs, mtimeMs) > ageMs
}

async function isUnchanged(before: Standing, { standings }: SweepOptions): Promise<boolean> {
  const now = (await standings([before.uuid])).get(before.uuid)
  return (
    now !== undefined && !now.in_flight && now.last_status === before.last_status && now.has_seal === before.has_seal
  )
}
