import type { Sql } from '../../data/db/sql.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** A hundred years. Dates further back may not be representable. */
const MAX_DAYS = 36_500
const BATCH = 5_000
/** One sweep removes at most a million entries; the next one continues. */
const MOST_BATCHES = 200

/**
 * Removes audit entries and counts of refused sign-ins older than `days`, in batches with a transaction each. Stops
 * between two batches when `signal` fires.
 * @param days 0 keeps everything
 * @returns the number of removed entries
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
