import type { Sql } from '../db/types.ts'
import { ROUND_QUEUE } from './round-queue.ts'

/**
 * Rounds that nobody runs and for which no message waits: the lease lapsed, or it never began long
 * after the round was accepted.
 */
export async function orphanedRounds(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    SELECT r.id FROM rounds r
    WHERE r.finished_at IS NULL
      AND coalesce(r.lease_until, r.created_at + interval '10 seconds') < clock_timestamp()
      AND NOT EXISTS (
        SELECT 1 FROM pgboss.job j
        WHERE j.name = ${ROUND_QUEUE} AND j.singleton_key = r.id::text AND j.state < 'active')
    ORDER BY r.id LIMIT 100`
  return rows.map((row) => row.id)
}
