import { expireAuditRecords } from '../src/access/audit/record.ts'
import { deleteOldEvents } from '../src/events/log-rows.ts'
import { deleteArchivesOfFailedSessions } from '../src/saved-plans/encrypted-archive.ts'
import { readStandings } from '../src/sessions/find.ts'
import { type RetentionContext, removeOldSessions } from './retention.ts'
import { gitFolder } from './workspace/git/place.ts'
import { sweepWorkspaces } from './workspace/saved-plans/sweep.ts'

const SWEEP_EVERY_MS = 3_600_000

type SweeperContext = RetentionContext

/**
 * Removes leftovers of rounds, expired events and audit entries, and old sessions, at once and hourly. Errors are logged. `stop` starts
 * no further sweep, without waiting for a running one.
 */
export function startSweeper(context: SweeperContext): { stop(): void } {
  const stopping = new AbortController()
  let running = false
  const run = async () => {
    if (running) return
    running = true
    try {
      await sweep(context, stopping.signal)
    } catch (error) {
      if (!stopping.signal.aborted) context.log.warn('cleaning up failed; it is tried again in an hour', { error })
    } finally {
      running = false
    }
  }
  const timer = setInterval(run, SWEEP_EVERY_MS)
  timer.unref()
  void run()
  return {
    stop: () => {
      stopping.abort()
      clearInterval(timer)
    },
  }
}

export async function sweep(context: SweeperContext, signal: AbortSignal): Promise<void> {
  const { config, sql, log } = context
  const standings = (uuids: readonly string[]) => readStandings(sql, uuids)
  const options = { standings, now: context.now(), log, signal }
  const { removed, unknown } = await sweepWorkspaces(config.paths.upload_folder, options)
  // A worker that died left git directories in another place than the files of its clones.
  const git = await sweepWorkspaces(gitFolder(config.paths), { ...options, plans: false })
  if (unknown > 0)
    log.warn('folders of sessions that the database does not know stay where they are', { folders: unknown })
  const archives = signal.aborted ? 0 : await deleteArchivesOfFailedSessions(context, signal)
  const { retention_days: days } = config.audit
  const entries = await expireAuditRecords(sql, { days, now: context.now(), signal })
  if (entries > 0) log.info('entries of the audit record removed', { entries, retention_days: days })
  const events = await deleteOldEvents(context, signal)
  await removeOldSessions(context, signal)
  if (removed + git.removed + archives + events > 0)
    log.info('cleaned up', { directories: removed, git_directories: git.removed, archives, events })
}
