import { LeaseLost } from '../base/errors.ts'
import type { Status } from '../base/vocabulary.ts'
import type { Db, Sql } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import type { ClaimedRound } from './types.ts'

/**
 * Writes a status row of a run and rings the bell of its session.
 * Errors: `LeaseLost`.
 */
export async function appendStatus(
  sql: Db,
  round: ClaimedRound,
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
      INSERT INTO statuses (session_id, round_id, status, message) SELECT id, ${round.id}, ${status}, ${text} FROM session
    )
    SELECT pg_notify(${STATUS_CHANNEL}, uuid::text) FROM session`
  assertHeld(rows)
}

/** NOTIFY channel; the payload is the uuid of a session whose status changed. */
export const STATUS_CHANNEL = 'platform_status'

/** Rings for a session; inside a transaction the bell rings at its commit. */
export async function notifyStatus(db: Db, uuid: string): Promise<void> {
  await db`SELECT pg_notify(${STATUS_CHANNEL}, ${uuid})`
}

/**
 * The session of a run, for the `FROM` of a fenced write: no row when another worker claimed the
 * round since. The lock makes a claim wait for the write, so that it sees what was written.
 */
export const heldSession = (sql: Db, round: ClaimedRound) => sql`
  SELECT id, uuid FROM sessions WHERE id = ${round.session.id} AND fence = ${round.fence} AND in_flight FOR SHARE`

/** Errors: `LeaseLost` when the write touched nothing. */
export function assertHeld(rows: { readonly length: number }): void {
  if (rows.length === 0) throw new LeaseLost()
}

/**
 * Remembers an engine job under the run's key for it, so that a later attempt finds it again.
 * Errors: `LeaseLost`.
 */
export async function recordJob(sql: Sql, round: ClaimedRound, key: string, jobId: string): Promise<void> {
  const rows = await sql`
    WITH session AS (${heldSession(sql, round)})
    UPDATE rounds SET jobs = jobs || jsonb_build_object(${key}::text, ${jobId}::text)
    FROM session WHERE rounds.id = ${round.id} RETURNING rounds.id`
  assertHeld(rows)
}
