import type { Context } from '../context.ts'

/** At most so many in one call. */
const LIMIT = 100

/**
 * Deletes stored pins of sessions that failed: no round of theirs is accepted any more. Best effort; what
 * could not be deleted is tried again by the next call. Answers how many are gone.
 */
export async function forgetArchives(
  { sql, storage, log }: Pick<Context, 'sql' | 'storage' | 'log'>,
  signal?: AbortSignal,
): Promise<number> {
  const rows = await sql<{ session_id: number; archive_key: string }[]>`
    SELECT p.session_id, p.archive_key FROM pins p JOIN sessions s ON s.id = p.session_id
    WHERE s.last_status = 'failed' AND NOT s.in_flight AND p.archive_key IS NOT NULL
    ORDER BY p.sealed_at LIMIT ${LIMIT}`
  let forgotten = 0
  for (const { session_id, archive_key } of rows) {
    if (signal?.aborted) break
    try {
      await storage.delete(archive_key)
      await sql`UPDATE pins SET archive_key = NULL WHERE session_id = ${session_id} AND archive_key = ${archive_key}`
      forgotten++
    } catch (error) {
      log.warn('a stored pin could not be deleted', { key: archive_key, error })
    }
  }
  return forgotten
}
