import type { Context } from '../src/context.ts'
import { readStandings } from '../src/sessions/find.ts'
import { deleteArchivesOfFailedSessions } from '../src/sessions/pins/archive.ts'
import { sweepWorkspaces } from './workspace/pins/sweep.ts'

const EVERY_MS = 3_600_000

type Needs = Pick<Context, 'config' | 'sql' | 'storage' | 'log' | 'now'>

export interface Sweeper {
  /** Begins nothing more; what is being removed at this moment is not waited for. */
  stop(): void
}

/** Removes what finished rounds left on the disk and in the object store: now, and then every hour. Never throws. */
export function startSweeper(context: Needs): Sweeper {
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
  const timer = setInterval(run, EVERY_MS)
  timer.unref()
  void run()
  return {
    stop: () => {
      stopping.abort()
      clearInterval(timer)
    },
  }
}

/** One look at everything that may be left. */
export async function sweep(context: Needs, signal: AbortSignal): Promise<void> {
  const { config, sql, log } = context
  const { removed, unknown } = await sweepWorkspaces(config.paths.upload_folder, {
    standings: (uuids) => readStandings(sql, uuids),
    now: context.now(),
    log,
    signal,
  })
  if (unknown > 0)
    log.warn('folders of sessions that the database does not know stay where they are', { folders: unknown })
  const archives = signal.aborted ? 0 : await deleteArchivesOfFailedSessions(context, signal)
  if (removed + archives > 0) log.info('cleaned up', { directories: removed, archives })
}
