import { LeaseLost } from '../base/errors.ts'
import type { Status } from '../base/vocabulary.ts'
import type { Db, Sql } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import type { ClaimedRound, HeldRound } from './round.ts'

/**
 * Writes a status row of a run and notifies all processes that listen for changes of its session.
 * Errors: `LeaseLost`.
 */
export async function appendStatus(
  sql: Db,
  round: Pick<HeldRound, 'id' | 'fence' | 'session'>,
  status: Status,
  message: string | null,
): Promise<void> {
  const text = storable(message)
  const rows = await sql`
    WITH session AS (
      UPDATE sessions SET last_status = ${status}, last_message = ${text}, last_status_at = clock_timestamp()
      WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight
      RETURNING id, uuid
    ), written AS (
      INSERT INTO statuses (session_id, round_id, status, message)
      SELECT id, ${round.id}, ${status}, ${text} FROM session
    )
    SELECT pg_notify(${STATUS_CHANNEL}, uuid::text) FROM session`
  assertHeld(rows)
}

/** Channel of PostgreSQL's NOTIFY. The payload is the uuid of the session whose status changed. */
export const STATUS_CHANNEL = 'platform_status'

/** Notifies listeners that a session changed. Inside a transaction PostgreSQL delivers this at the commit. */
export async function notifyStatus(db: Db, uuid: string): Promise<void> {
  await db`SELECT pg_notify(${STATUS_CHANNEL}, ${uuid})`
}

/**
 * Query for the session of a run, used in the `FROM` of a write that only the current holder may do. It yields no row
 * when another worker has claimed the round since, because a claim raises the fence. The row lock makes a claim wait
 * for the write, so that the new holder sees what was written.
 */
export const heldSessionQuery = (sql: Db, round: ClaimedRound) => sql`
  SELECT id, uuid FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight FOR SHARE`

/** Throws `LeaseLost` when a write of a run has touched no row. */
export function assertHeld(rows: { readonly length: number }): void {
  if (rows.length === 0) throw new LeaseLost()
}

/**
 * Records the id of an engine job under the key that the run gave it, so that a later attempt finds the job again.
 * Errors: `LeaseLost`.
 */
export async function recordJob(sql: Sql, round: ClaimedRound, key: string, jobId: string): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSessionQuery(sql, round)})
    UPDATE rounds SET jobs = jobs || jsonb_build_object(${key}::text, ${jobId}::text)
    FROM session WHERE rounds.id = ${round.id} RETURNING rounds.id`
  assertHeld(rows)
}
