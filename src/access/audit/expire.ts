import type { Sql } from '../../data/db/types.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** A hundred years. An earlier moment than that need not be a date that can be written. */
const MAX_DAYS = 36_500
const BATCH = 5_000
/** One sweep removes at most a million entries; the next one goes on. */
const MOST_BATCHES = 200

/**
 * Removes the entries of the record, and the counts of refused sign-ins, that are older than so many days. It does so
 * in batches, each in a transaction of its own, and stops between two of them when `signal` fires.
 * @param days 0 keeps everything
 * @returns how many entries were removed
 */
export async function expireAuditRecords(
  sql: Sql,
  options: { days: number; now: Date; signal: AbortSignal },
): Promise<number> {
  const { days, now, signal } = options
  if (days === 0) return 0
  const before = new Date(now.getTime() - Math.min(days, MAX_DAYS) * DAY_MS)
  await sql`DELETE FROM sign_in_refusals WHERE hour < ${before}::timestamptz`
  let removed = 0
  for (let batch = 0; batch < MOST_BATCHES && !signal.aborted; batch++) {
    const [row] = await sql<
      { deleted: number }[]
    >`SELECT expire_audit_records(${before}::timestamptz, ${BATCH}) AS deleted`
    removed += row?.deleted ?? 0
    if ((row?.deleted ?? 0) < BATCH) break
  }
  return removed
}
