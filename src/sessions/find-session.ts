import type { Db } from '../data/db/types.ts'
import { isUuid } from './is-uuid.ts'
import type { SessionFacts } from './types.ts'

/** The facts of a session, or null when there is none. */
export async function findSession(sql: Db, uuid: string): Promise<SessionFacts | null> {
  if (!isUuid(uuid)) return null
  const [row] = await sql<FactsRow[]>`${selectFacts(sql)} WHERE s.uuid = ${uuid}`
  return row ? toFacts(row) : null
}

/** The same by primary key, for runs. */
export async function factsOf(sql: Db, session_id: number): Promise<SessionFacts> {
  const [row] = await sql<FactsRow[]>`${selectFacts(sql)} WHERE s.id = ${session_id}`
  if (!row) throw new Error(`session ${session_id} has no row`)
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
