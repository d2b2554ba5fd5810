import type { Query, Sql } from '../../data/db/sql.ts'
import { containing } from '../../data/db/values.ts'
import {
  joinConditions,
  kindConditions,
  operationCondition,
  type SessionSelection,
  timeConditions,
} from './selection.ts'

/** The sessions of a selection, as part of a statement. */
export interface MatchQuery {
  /** `FROM … WHERE …` with `id` and `created_at` of `s`, which is the table `sessions` if `searched` is false. */
  fromWhere: Query
  searched: boolean
  /** True if the best query plan depends on the values, so that a prepared, general plan must not be used. */
  planDependsOnValues: boolean
}

/** Builds the query of a selection. A search may need a statement of its own, which is run here. */
export async function matchSessions(sql: Sql, selection: SessionSelection): Promise<MatchQuery> {
  const { search, user_email } = selection
  const searched =
    search === undefined ? null : buildSearchCondition(sql, search, await findMatchingRepositories(sql, search))
  const kinds = kindConditions(sql, selection).filter((condition) => condition !== null)
  const conditions = [
    searched?.condition ?? null,
    ...ownCondition(sql, selection),
    operationCondition(sql, selection),
    ...timeConditions(sql, selection),
    user_email === undefined
      ? null
      : sql`s.user_id IN (SELECT id FROM users WHERE email ILIKE ${containing(user_email)})`,
    // The searched table lacks the columns that change.
    ...(searched && kinds.length > 0
      ? [sql`s.id IN (SELECT s.id FROM sessions s WHERE true ${joinConditions(sql, kinds)})`]
      : kinds),
  ]
  const from = searched
    ? sql`FROM (SELECT session_id AS id, * FROM session_search) s WHERE true`
    : sql`FROM sessions s WHERE true`
  return {
    fromWhere: sql`${from} ${joinConditions(sql, conditions)}`,
    searched: searched !== null,
    planDependsOnValues: searched !== null || user_email !== undefined,
  }
}

const ownCondition = (sql: Sql, { owner_id, repo_uri }: SessionSelection): (Query | null)[] => [
  owner_id === undefined ? null : sql`s.user_id = ${owner_id}`,
  repo_uri === undefined ? null : sql`s.repository_id = md5(lower(${repo_uri}))::uuid`,
]

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
 * Finds the repositories whose address contains the searched text. Up to 500 ids are returned as a list: with inlined
 * ids the planner knows their number.
 * @returns `all` when every known repository matches, `many` when more than 500 do
 */
async function findMatchingRepositories(sql: Sql, search: string): Promise<string[] | 'all' | 'many'> {
  const rows = await sql<{ id: string; known: number }[]>`
    SELECT id, (SELECT count(*) FROM searched_repositories) AS known
    FROM searched_repositories WHERE uri LIKE lower(${containing(search)})`
  if (rows.length > 0 && rows.length === rows[0]?.known) return 'all'
  return rows.length > MAX_LISTED_REPOSITORIES ? 'many' : rows.map(({ id }) => id)
}
