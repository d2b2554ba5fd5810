import type { Status } from '../base/vocabulary.ts'
import type { Db, Sql } from '../data/db/types.ts'
import type { SessionFacts } from './types.ts'

/** Reads the facts of a session by uuid; null when there is no such session. */
export async function findSession(sql: Db, uuid: string): Promise<SessionFacts | null> {
  if (!isUuid(uuid)) return null
  const [row] = await sql<FactsRow[]>`${selectFacts(sql)} WHERE s.uuid = ${uuid}`
  return row ? toFacts(row) : null
}

/** Reads the facts of a session by primary key, for a run. Errors: a plain one when there is no such row. */
export async function readSessionFacts(sql: Db, sessionId: number): Promise<SessionFacts> {
  const [row] = await sql<FactsRow[]>`${selectFacts(sql)} WHERE s.id = ${sessionId}`
  if (!row) throw new Error(`session ${sessionId} has no row`)
  return toFacts(row)
}

type FactsRow = Omit<SessionFacts, 'workspace'> & { uri: string; branch: string; root_path: string | null }

const selectFacts = (sql: Db) => sql`
  SELECT s.id, s.uuid, s.user_id, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation,
         p.provider, p.scope_id, w.uri, w.branch, w.root_path, h.first_query,
         s.is_blocked, s.in_flight, s.last_status AS current_status
  FROM sessions s
  JOIN users u ON u.id = s.user_id
  JOIN workspaces w ON w.session_id = s.id
  JOIN engine_providers p ON p.session_id = s.id
  JOIN histories h ON h.session_id = s.id`

const toFacts = ({ uri, branch, root_path, ...facts }: FactsRow): SessionFacts => ({
  ...facts,
  workspace: { uri, branch, root_path },
})

/** Whether PostgreSQL reads the text as a uuid in the usual form. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** The facts that decide whether the files of a session on a worker's disk are still needed. */
export interface Standing {
  uuid: string
  in_flight: boolean
  last_status: Status
  /** True if the session has a current saved plan. */
  has_saved_plan: boolean
}

/** Reads standings, keyed by the uuid in lower case. A session that this database does not know has no entry. */
export async function readStandings(sql: Db, uuids: readonly string[]): Promise<Map<string, Standing>> {
  const rows = await sql<Standing[]>`
    SELECT s.uuid, s.in_flight, s.last_status, p.round_id IS NOT NULL AS has_saved_plan
    FROM sessions s LEFT JOIN saved_plans p ON p.session_id = s.id AND p.ended_at IS NULL
    WHERE s.uuid = ANY(${[...uuids]}::uuid[])`
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
