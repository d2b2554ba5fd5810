import { containing } from '../db/text.ts'
import type { Sql } from '../db/types.ts'
import type { Operation, SessionSummary, Status } from './types.ts'

export interface SessionFilter {
  /** Absent: sessions of all users. */
  owner_id?: number
  /** From 1. */
  page: number
  page_size: number
  operation?: Operation
  /** Of the most recent status. */
  status?: Status
  /** Literal, any case: part of the first query, the repository URI or the uuid. Blank is ignored. */
  search?: string
  /** Literal, any case: part of the owner's e-mail. Blank is ignored. */
  user_email?: string
}

/** Newest first. A page beyond the end is empty; `total` counts what the filter finds. */
export async function listSessions(sql: Sql, filter: SessionFilter): Promise<{ items: SessionSummary[]; total: number }> {
  const search = filter.search?.trim() ? filter.search : null
  const user_email = filter.user_email?.trim() ? filter.user_email : null
  // No stored text holds a NUL character, and the server refuses it in a parameter.
  if (search?.includes('\0') || user_email?.includes('\0')) return { items: [], total: 0 }
  const where = conditions(sql, { ...filter, search, user_email })
  const [items, total] = await Promise.all([page(sql, where, filter), count(sql, where)])
  return { items, total }
}

type Condition = ReturnType<typeof conditions>

function conditions(sql: Sql, filter: Omit<SessionFilter, 'search' | 'user_email'> & { search: string | null; user_email: string | null }) {
  const pattern = filter.search === null ? '' : containing(filter.search)
  return sql`
    ${filter.owner_id === undefined ? sql`true` : sql`s.user_id = ${filter.owner_id}`}
    AND ${filter.operation === undefined ? sql`true` : sql`s.operation = ${filter.operation}`}
    AND ${filter.status === undefined ? sql`true` : sql`s.last_status = ${filter.status}`}
    AND ${
      filter.user_email === null ? sql`true` : sql`s.user_id IN (SELECT id FROM users WHERE email ILIKE ${containing(filter.user_email)})`
    }
    AND ${
      filter.search === null
        ? sql`true`
        : sql`s.id IN (
            SELECT session_id FROM histories WHERE first_query ILIKE ${pattern}
            UNION SELECT session_id FROM workspaces WHERE uri ILIKE ${pattern}
            UNION SELECT id FROM sessions WHERE uuid::text ILIKE ${pattern})`
    }`
}

async function page(sql: Sql, where: Condition, filter: SessionFilter): Promise<SessionSummary[]> {
  const offset = Math.min((filter.page - 1) * filter.page_size, Number.MAX_SAFE_INTEGER)
  const rows = await sql<SummaryRow[]>`
    SELECT s.uuid, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation, p.provider, h.first_query,
           w.uri, w.branch, w.root_path, s.last_status AS current_status, s.in_flight, s.is_blocked, s.created_at, s.updated_at
    FROM (
      SELECT * FROM sessions s WHERE ${where}
      ORDER BY created_at DESC, id DESC LIMIT ${filter.page_size} OFFSET ${offset}
    ) s
    JOIN users u ON u.id = s.user_id
    JOIN workspaces w ON w.session_id = s.id
    JOIN engine_providers p ON p.session_id = s.id
    JOIN histories h ON h.session_id = s.id
    ORDER BY s.created_at DESC, s.id DESC`
  return rows.map(toSummary)
}

async function count(sql: Sql, where: Condition): Promise<number> {
  const [row] = await sql<{ total: number }[]>`SELECT count(*) AS total FROM sessions s WHERE ${where}`
  return row?.total ?? 0
}

export type SummaryRow = Omit<SessionSummary, 'workspace'> & { uri: string; branch: string; root_path: string | null }

export const toSummary = ({ uri, branch, root_path, ...summary }: SummaryRow): SessionSummary => ({
  uuid: summary.uuid,
  username: summary.username,
  operation: summary.operation,
  provider: summary.provider,
  first_query: summary.first_query,
  workspace: { uri, branch, root_path },
  current_status: summary.current_status,
  in_flight: summary.in_flight,
  is_blocked: summary.is_blocked,
  created_at: summary.created_at,
  updated_at: summary.updated_at,
})
