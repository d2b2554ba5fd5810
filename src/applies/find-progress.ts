import type { Sql } from '../data/db/types.ts'
import type { ApplyProgress } from './types.ts'

/** What earlier attempts of an apply round left; of none when it has just begun. */
export async function findProgress(sql: Sql, round_id: number): Promise<ApplyProgress> {
  const [row] = await sql<ApplyProgress[]>`
    SELECT extract(epoch FROM clock_timestamp() - waiting_since)::float8 AS waited_s,
           intended_at IS NOT NULL AS intended, job_id, result
    FROM applies WHERE round_id = ${round_id}`
  return row ?? { waited_s: null, intended: false, job_id: null, result: null }
}
