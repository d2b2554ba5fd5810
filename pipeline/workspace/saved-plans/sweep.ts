import { randomBytes } from 'node:crypto'
import { lstat, opendir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../../src/base/log.ts'
import { isUuid } from '../../../src/base/text.ts'
import type { Standing } from '../../../src/sessions/find.ts'
import { ENDED, isAside, PLAN_DIRECTORY } from './plan-directory.ts'

const HOUR_MS = 3_600_000
/** Directories that were moved aside are kept for a day, because an engine may still use them. */
const ENDED_AGE_MS = 24 * HOUR_MS
/** Name prefix of directories that are being removed, next to the session folders, where no round looks. */
const LEAVING = '.swept-'
const BATCH = 200

interface SweepOptions {
  /** Reads standings by uuid, without entries for unknown sessions. */
  standings(uuids: readonly string[]): Promise<Map<string, Standing>>
  now: Date
  log: Logger
  signal: AbortSignal
  /** Maximum number of sessions per sweep. The default is 500. */
  limit?: number
  /** False for a folder without plan directories. The default is true. */
  plans?: boolean
}

/**
 * Removes what sessions left an hour ago, except usable plan directories. Returns the numbers of removed entries, and of
 * folders of unknown sessions, which stay. Errors: of listing and `standings`.
 */
export async function sweepWorkspaces(uploadFolder: string, options: SweepOptions) {
  const result = { removed: 0, unknown: 0 }
  let remaining = options.limit ?? 500
  for await (const uuids of sessionFolders(uploadFolder, options.log)) {
    const standings = await options.standings(uuids)
    for (const uuid of uuids) {
      if (options.signal.aborted || remaining <= 0) return result
      const standing = standings.get(uuid)
      if (!standing) result.unknown++
      if (!standing || standing.in_flight) continue
      const removed = await sweepSession(uploadFolder, standing, options).catch((error: NodeJS.ErrnoException) => {
        // With ENOENT another process has removed it in the meantime.
        if (error.code !== 'ENOENT')
          options.log.warn('leftovers of a session could not be removed', { session_id: uuid, error })
        return 0
      })
      result.removed += removed
      if (removed > 0) remaining--
    }
  }
  return result
}

/** Lists the names of session folders in batches, and completes removals of an earlier sweep. */
async function* sessionFolders(uploadFolder: string, log: Logger): AsyncGenerator<string[]> {
  let batch: string[] = []
  const folder = await opendir(uploadFolder).catch((error: NodeJS.ErrnoException) => {
    // It may not exist before the first round.
    if (error.code === 'ENOENT') return []
    throw error
  })
  for await (const entry of folder) {
    if (!entry.isDirectory()) continue
    if (entry.name.startsWith(LEAVING))
      await rm(join(uploadFolder, entry.name), { recursive: true, force: true }).catch((error: unknown) =>
        log.warn('leftovers could not be removed', { error }),
      )
    if (!isUuid(entry.name) || entry.name !== entry.name.toLowerCase()) continue
    batch.push(entry.name)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function sweepSession(uploadFolder: string, standing: Standing, options: SweepOptions): Promise<number> {
  const { uuid } = standing
  const session = join(uploadFolder, uuid)
  const names = await readdir(session)
  const needed = options.plans === false ? () => false : neededName(standing, names)
  let removed = 0
  for (const name of names) {
    if (
      needed(name) ||
      !(await isOld(join(session, name), name.startsWith(ENDED) ? ENDED_AGE_MS : HOUR_MS, options.now))
    )
      continue
    if (!(await isUnchanged(standing, options))) return removed
    const leaving = join(uploadFolder, LEAVING + randomBytes(8).toString('hex'))
    // Renaming is atomic, so a round that begins now does not meet a half-removed directory.
    await rename(join(session, name), leaving)
    await rm(leaving, { recursive: true, force: true })
    removed++
  }
  const isEmpty = names.length === 0 && (await isOld(session, HOUR_MS, options.now))
  if (isEmpty && (await isUnchanged(standing, options))) await rmdir(session)
  return removed
}

/** Returns a test for needed entries of a session folder: the plan directory, or its replacement after a crash. */
function neededName({ has_saved_plan, last_status }: Standing, names: string[]): (name: string) => boolean {
  if (!has_saved_plan || last_status === 'failed') return () => false
  return names.includes(PLAN_DIRECTORY) ? (name) => name === PLAN_DIRECTORY : isAside
}

/** True if the entry has not been changed or moved for a time. */
async function isOld(path: string, ageMs: number, now: Date): Promise<boolean> {
  const { ctimeMs, mtimeMs } = await lstat(path)
  return now.getTime() - Math.max(ctimeMs, mtimeMs) > ageMs
}

async function isUnchanged(before: Standing, { standings }: SweepOptions): Promise<boolean> {
  const now = (await standings([before.uuid])).get(before.uuid)
  return (
    now !== undefined &&
    !now.in_flight &&
    now.last_status === before.last_status &&
    now.has_saved_plan === before.has_saved_plan
  )
}
