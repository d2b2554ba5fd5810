import type { Cloud, Operation, Status } from '../base/vocabulary.ts'
import type { Db, Query } from '../data/db/sql.ts'

/** The facts of a session that a run needs. Only `is_blocked` may change during the run. */
export interface SessionFacts {
  id: number
  uuid: string
  user_id: number
  /** The owner's e-mail; `user-<id>` for an owner without one. */
  username: string
  operation: Operation
  provider: Cloud
  scope_id: string
  workspace: { uri: string; branch: string; root_path: string | null }
  first_query: string
  is_blocked: boolean
  in_flight: boolean
  current_status: Status
}

type FactsRow = Omit<SessionFacts, 'workspace'> & { uri: string; branch: string; root_path: string | null }

/** Returns the columns that a session's summary, detail and facts share. */
export const factColumns = (sql: Db): Query => sql`
  s.uuid, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation, p.provider, h.first_query,
  w.uri, w.branch, w.root_path, s.last_status AS current_status, s.in_flight, s.is_blocked`

/** Returns the joins of these columns, each with one row for the session `s`. */
export const factJoins = (sql: Db): Query => sql`
  JOIN users u ON u.id = s.user_id
  JOIN workspaces w ON w.session_id = s.id
  JOIN engine_providers p ON p.session_id = s.id
  JOIN histories h ON h.session_id = s.id`

/** Reads the facts of the session `s` that the condition selects; null when there is none. */
export async function readFacts(sql: Db, condition: Query): Promise<SessionFacts | null> {
  const [row] = await sql<FactsRow[]>`
    SELECT s.id, s.user_id, p.scope_id, ${factColumns(sql)} FROM sessions s ${factJoins(sql)} WHERE ${condition}`
  if (!row) return null
  const { uri, branch, root_path, ...facts } = row
  return { ...facts, workspace: { uri, branch, root_path } }
}

/** Returns the cache key of a finished session's detail. */
export const sessionAggregateKey = (uuid: string): string => `platform:session:${uuid.toLowerCase()}:aggregate`
