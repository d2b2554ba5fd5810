import type { Operation, Status } from '../base/vocabulary.ts'
import type { Query, Sql } from '../data/db/types.ts'
import { containing } from '../data/db/values.ts'
import type { SessionSummary } from './types.ts'

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

/** Up to this many matches are read and sorted; more are met soon enough on the way from the newest on. */
const FEW = 1_000

/**
 * Newest first. A page beyond the end is empty; `total` counts what the filter finds. The count comes
 * first: it decides how the page is looked for, where the planner would have to guess.
 */
export async function listSessions(
  sql: Sql,
  filter: SessionFilter,
): Promise<{ items: SessionSummary[]; total: number }> {
  const search = filter.search?.trim() ? filter.search : null
  const userEmail = filter.user_email?.trim() ? filter.user_email : null
  // No stored text holds a NUL character, and the server refuses it in a parameter.
  if (search?.includes('\0') || userEmail?.includes('\0')) return { items: [], total: 0 }
  const searched = search === null ? null : inSearch(sql, search, await matchingRepositories(sql, search))
  const found = matching(sql, { ...filter, user_email: userEmail }, searched)
  const total = await count(sql, found)
  const offset = (filter.page - 1) * filter.page_size
  const items = offset < total ? await page(sql, found, { limit: filter.page_size, offset, few: total <= FEW }) : []
  return { items, total }
}

/** `FROM … WHERE …` with columns `id` and `created_at` of `s`. */
interface Found {
  part: Query
  /** The best plan depends on the values. */
  varies: boolean
}

function matching(
  sql: Sql,
  filter: Omit<SessionFilter, 'user_email'> & { user_email: string | null },
  searched: Searched | null,
): Found {
  const { owner_id, operation, status, user_email } = filter
  const conditions = [
    searched?.condition ?? null,
    owner_id === undefined ? null : sql`s.user_id = ${owner_id}`,
    operation === undefined ? null : sql`s.operation = ${operation}`,
    user_email === null ? null : sql`s.user_id IN (SELECT id FROM users WHERE email ILIKE ${containing(user_email)})`,
    status === undefined
      ? null
      : searched
        ? sql`s.id IN (SELECT id FROM sessions WHERE last_status = ${status})`
        : sql`s.last_status = ${status}`,
  ]
  const from = searched
    ? sql`FROM (SELECT session_id AS id, * FROM session_search) s WHERE true`
    : sql`FROM sessions s WHERE true`
  const part = conditions.reduce<Query>((all, one) => (one ? sql`${all} AND ${one}` : all), from)
  return { part, varies: searched !== null || user_email !== null }
}

interface Searched {
  /** null: every session matches. */
  condition: Query | null
}

function inSearch(sql: Sql, search: string, repositories: string[] | 'all' | 'many'): Searched {
  if (repositories === 'all') return { condition: null }
  const inContent = sql`s.content LIKE lower(${containing(search.replaceAll('\x1f', ' '))})`
  if (repositories.length === 0) return { condition: inContent }
  const ids =
    repositories === 'many'
      ? sql`ARRAY(SELECT id FROM searched_repositories WHERE uri LIKE lower(${containing(search)}))`
      : sql`${repositories}::uuid[]`
  return { condition: sql`(s.repository_id = ANY(${ids}) OR ${inContent})` }
}

const MANY = 500

/** Repositories that match, known to the planner where they are not too many. */
async function matchingRepositories(sql: Sql, search: string): Promise<string[] | 'all' | 'many'> {
  const rows = await sql<{ id: string; known: number }[]>`
    SELECT id, (SELECT count(*) FROM searched_repositories) AS known
    FROM searched_repositories WHERE uri LIKE lower(${containing(search)})`
  if (rows.length > 0 && rows.length === rows[0]?.known) return 'all'
  return rows.length > MANY ? 'many' : rows.map(({ id }) => id)
}

async function page(
  sql: Sql,
  { part, varies }: Found,
  window: { limit: number; offset: number; few: boolean },
): Promise<SessionSummary[]> {
  const query = sql<SummaryRow[]>`
    WITH matching AS ${window.few ? sql`MATERIALIZED` : sql`NOT MATERIALIZED`} (SELECT s.id, s.created_at ${part})
    SELECT s.uuid, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation, p.provider, h.first_query,
           w.uri, w.branch, w.root_path, s.last_status AS current_status, s.in_flight, s.is_blocked, s.created_at, s.updated_at
    FROM (SELECT id FROM matching ORDER BY created_at DESC, id DESC LIMIT ${window.limit} OFFSET ${window.offset}) found
    JOIN sessions s ON s.id = found.id
    JOIN users u ON u.id = s.user_id
    JOIN workspaces w ON w.session_id = s.id
    JOIN engine_providers p ON p.session_id = s.id
    JOIN histories h ON h.session_id = s.id
    ORDER BY s.created_at DESC, s.id DESC`
  const rows = await (varies ? query.unprepared() : query)
  return rows.map(toSummary)
}

async function count(sql: Sql, { part, varies }: Found): Promise<number> {
  const query = sql<{ total: number }[]>`SELECT count(*) AS total ${part}`
  const [row] = await (varies ? query.unprepared() : query)
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
