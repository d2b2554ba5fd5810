import type { Context } from '../context.ts'

/** How long the events of a round are kept. */
export const EVENT_DAYS = 30
/** Most events that one statement deletes, so that none holds the table for long. */
const BATCH = 5_000

/**
 * Deletes the events that are too old, in batches, and answers how many there were.
 * @param signal stops it between two batches
 */
export async function deleteOldEvents(
  { sql, now }: Pick<Context, 'sql' | 'now'>,
  signal: AbortSignal,
  batch = BATCH,
): Promise<number> {
  const limit = new Date(now().getTime() - EVENT_DAYS * 24 * 3_600_000)
  let deleted = 0
  while (!signal.aborted) {
    // Ids rise with time, so the oldest events are found by their ids alone.
    const { count } = await sql`
      DELETE FROM round_events WHERE id IN (
        SELECT id FROM (SELECT id, created_at FROM round_events ORDER BY id LIMIT ${batch}) AS oldest
        WHERE created_at < ${limit})`
    deleted += count
    if (count < batch) break
  }
  return deleted
}
