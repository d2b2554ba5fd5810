import { isUuid } from '../base/text.ts'
import type { Status } from '../base/vocabulary.ts'
import type { Db, Sql } from '../data/db/sql.ts'
import { readFacts, type SessionFacts } from '../rounds/round.ts'

/** Reads the facts of a session by uuid; null when there is no such session. */
export const findSession = async (sql: Db, uuid: string): Promise<SessionFacts | null> =>
  isUuid(uuid) ? await readFacts(sql, sql`s.uuid = ${uuid}`) : null

/** The facts that decide whether a worker's disk still needs the files of a session. */
export interface Standing {
  uuid: string
  in_flight: boolean
  last_status: Status
  has_saved_plan: boolean
}

/**
 * Reads standings, keyed by the uuid in lower case. A session that was removed for its age stands as a failed one does,
 * of which nothing is needed. A session that this database does not know has no entry.
 */
export async function readStandings(sql: Db, uuids: readonly string[]): Promise<Map<string, Standing>> {
  const rows = await sql<Standing[]>`
    SELECT s.uuid, s.in_flight, s.last_status, p.round_id IS NOT NULL AS has_saved_plan
    FROM sessions s LEFT JOIN saved_plans p ON p.session_id = s.id AND p.ended_at IS NULL
    WHERE s.uuid = ANY(${[...uuids]}::uuid[])
    UNION ALL
    SELECT uuid, false, 'failed', false FROM removed_sessions WHERE uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(rows.map((row) => [row.uuid, row]))
}

/** Reads the sum of input and output tokens of all finished rounds of a session. */
export async function countSessionTokens(sql: Sql, sessionId: number): Promise<number> {
  const [row] = await sql<{ tokens: number }[]>`
    SELECT coalesce(sum(
      coalesce((usage->>'input_tokens')::float8, 0) + coalesce((usage->>'output_tokens')::float8, 0)
    ), 0)::float8 AS tokens
    FROM rounds WHERE session_id = ${sessionId}`
  return row?.tokens ?? 0
}

/** Reads the last completed round's commit. Empty when no round has completed, null when the commit is unknown. */
export async function readReviewedCommit(sql: Db, sessionId: number): Promise<string | null> {
  const [row] = await sql<{ reviewed_commit: string | null }[]>`
    SELECT reviewed_commit FROM sessions WHERE id = ${sessionId}`
  return row?.reviewed_commit ?? null
}
