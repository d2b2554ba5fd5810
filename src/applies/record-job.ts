import type { Sql } from '../data/db/types.ts'

/**
 * Remembers the one job of an apply round, so that a later attempt waits for it. Not fenced: only the
 * attempt that wrote the intent can know the id, and it is worth as much from a worker that lost the round.
 */
export async function recordApplyJob(sql: Sql, round_id: number, job_id: string): Promise<void> {
  await sql`UPDATE applies SET job_id = ${job_id} WHERE round_id = ${round_id} AND intended_at IS NOT NULL AND job_id IS NULL`
}
