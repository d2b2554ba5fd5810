import type { Operation, Status } from '../base/vocabulary.ts'
import type { Query, Sql } from '../data/db/types.ts'
import { containing } from '../data/db/values.ts'
import type { SessionSummary } from './types.ts'

export interface SessionFilter {
  /** Without it, sessions of all users are listed. */
  owner_id?: number
  /** The first page is 1. */
  page: number
  page_size: number
  operation?: Operation
  /** Compared with the session's most recent status. */
  status?: Status
  /**
   * Part of the first query, of the repository URI or of the uuid. Upper and lower case count as equal and no
   * character is a wildcard. A blank text is ignored.
   */
  search?: string
  /** Part of the owner's e-mail, compared like `search`. */
  user_email?: string
}

/**
 * Up to this many matching sessions are all read and then sorted. When more match, it is faster to walk the
 * sessions from the newest on and to stop when the page is full.
 */
const FEW_MATCHES = 1_000

/**
 * Lists sessions, newest first. A page beyond the end is empty; `total` is the number of all sessions that match
 * the filter. They are counted before the page is read, because the count decides how the page is read (see
 * `FEW_MATCHES`); the query planner would have to guess.
 */
export async function listSessions(
  sql: Sql,
  filter: SessionFilter,
): Promise<{ items: SessionSummary[]; total: number }> {
  const search = filter.search?.trim() ? filter.search : null
  const userEmail = filter.user_email?.trim() ? filter.user_email : null
  // PostgreSQL cannot store a NUL character and refuses it in a parameter, so nothing can match.
  if (search?.includes('\0') || userEmail?.includes('\0')) return { items: [], total: 0 }
  const searchCondition =
    search === null ? null : buildSearchCondition(sql, search, await findMatchingRepositories(sql, search))
  const query = buildMatchQuery(sql, { ...filter, user_email: userEmail }, searchCondition)
  const total = await countMatches(sql, query)
  const offset = (filter.page - 1) * filter.page_size
  if (offset >= total) return { items: [], total }
  const items = await readPage(sql, query, { limit: filter.page_size, offset, few: total <= FEW_MATCHES })
  return { items, total }
}

/** The sessions that match a filter. */
interface MatchQuery {
  /** `FROM … WHERE …` with columns `id` and `created_at` of the table or subquery `s`. */
  fromWhere: Query
  /** True when the best query plan depends on the values, so that a prepared, general plan must not be used. */
  planDependsOnValues: boolean
}

function buildMatchQuery(
  sql: Sql,
  filter: Omit<SessionFilter, 'user_email'> & { user_email: string | null },
  searched: SearchCondition | null,
): MatchQuery {
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
  return { fromWhere: part, planDependsOnValues: searched !== null || user_email !== null }
}

interface SearchCondition {
  /** Null when every session matches. */
  condition: Query | null
}

function buildSearchCondition(sql: Sql, search: string, repositories: string[] | 'all' | 'many'): SearchCondition {
  if (repositories === 'all') return { condition: null }
  const inContent = sql`s.content LIKE lower(${containing(search.replaceAll('\x1f', ' '))})`
  if (repositories.length === 0) return { condition: inContent }
  const ids =
    repositories === 'many'
      ? sql`ARRAY(SELECT id FROM searched_repositories WHERE uri LIKE lower(${containing(search)}))`
      : sql`${repositories}::uuid[]`
  return { condition: sql`(s.repository_id = ANY(${ids}) OR ${inContent})` }
}

const MAX_LISTED_REPOSITORIES = 500

/**
 * Finds the repositories whose address contains the searched text. Up to 500 ids are returned as a list: with the
 * ids in the query the planner knows how many they are.
 * @returns `all` when every known repository matches, `many` when more than 500 do
 */
async function findMatchingRepositories(sql: Sql, search: string): Promise<string[] | 'all' | 'many'> {
  const rows = await sql<{ id: string; known: number }[]>`
    SELECT id, (SELECT count(*) FROM searched_repositories) AS known
    FROM searched_repositories WHERE uri LIKE lower(${containing(search)})`
  if (rows.length > 0 && rows.length === rows[0]?.known) return 'all'
  return rows.length > MAX_LISTED_REPOSITORIES ? 'many' : rows.map(({ id }) => id)
}

async function readPage(
  sql: Sql,
  { fromWhere, planDependsOnValues }: MatchQuery,
  window: { limit: number; offset: number; few: boolean },
): Promise<SessionSummary[]> {
  const query = sql<SummaryRow[]>`
    WITH matching AS ${window.few ? sql`MATERIALIZED` : sql`NOT MATERIALIZED`} (SELECT s.id, s.created_at ${fromWhere})
    SELECT s.uuid, coalesce(nullif(u.email, ''), 'user-' || u.id) AS username, s.operation, p.provider, h.first_query,
           w.uri, w.branch, w.root_path, s.last_status AS current_status,
           s.in_flight, s.is_blocked, s.created_at, s.updated_at
    FROM (SELECT id FROM matching ORDER BY created_at DESC, id DESC LIMIT ${window.limit} OFFSET ${window.offset}) found
    JOIN sessions s ON s.id = found.id
    JOIN users u ON u.id = s.user_id
    JOIN workspaces w ON w.session_id = s.id
    JOIN engine_providers p ON p.session_id = s.id
    JOIN histories h ON h.session_id = s.id
    ORDER BY s.created_at DESC, s.id DESC`
  const rows = await (planDependsOnValues ? query.unprepared() : query)
  return rows.map(toSummary)
}

async function countMatches(sql: Sql, { fromWhere, planDependsOnValues }: MatchQuery): Promise<number> {
  const query = sql<{ total: number }[]>`SELECT count(*) AS total ${fromWhere}`
  const [row] = await (planDependsOnValues ? query.unprepared() : query)
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
