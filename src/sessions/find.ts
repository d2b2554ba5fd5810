import type { Status } from '../base/vocabulary.ts'
import type { Db, Sql } from '../data/db/types.ts'
import type { SessionFacts } from './types.ts'

/** The facts of a session, or null when there is none. */
export async function findSession(sql: Db, uuid: string): Promise<SessionFacts | null> {
  if (!isUuid(uuid)) return null
  const [row] = await sql<FactsRow[]>`${selectFacts(sql)} WHERE s.uuid = ${uuid}`
  return row ? toFacts(row) : null
}

/** The same by primary key, for runs. */
export async function factsOf(sql: Db, sessionId: number): Promise<SessionFacts> {
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

/** What decides whether anybody still needs what a session left on a disk. */
export interface Standing {
  uuid: string
  in_flight: boolean
  last_status: Status
  /** Whether the session has a pinned plan by the database. */
  has_seal: boolean
}

/** Standings by uuid in lower case; a session that this database does not know is missing. */
export async function standingsOf(sql: Db, uuids: readonly string[]): Promise<Map<string, Standing>> {
  const rows = await sql<Standing[]>`
    SELECT s.uuid, s.in_flight, s.last_status, p.session_id IS NOT NULL AS has_seal
    FROM sessions s LEFT JOIN pins p ON p.session_id = s.id WHERE s.uuid = ANY(${[...uuids]}::uuid[])`
  return new Map(rows.map((row) => [row.uuid, row]))
}

/** Tokens, input and output, of all finished rounds of a session. */
export async function sessionTokens(sql: Sql, sessionId: number): Promise<number> {
  const [row] = await sql<{ tokens: number }[]>`
    SELECT coalesce(sum(coalesce((usage->>'input_tokens')::float8, 0) + coalesce((usage->>'output_tokens')::float8, 0)), 0)::float8 AS tokens
    FROM rounds WHERE session_id = ${sessionId}`
  return row?.tokens ?? 0
}
