import type { Cloud, Mode, Operation, Status } from '../../base/vocabulary.ts'
import type { Query, Sql } from '../../data/db/sql.ts'
import { containing } from '../../data/db/values.ts'

/** Criteria of a list of sessions. Omitted ones match all. */
export interface SessionSelection {
  /** Absent: the sessions of all users. */
  owner_id?: number
  operation?: Operation
  /** The session's most recent status. */
  status?: Status
  cloud?: Cloud
  /** The mode of the session's most recent round. */
  mode?: Mode
  /** The whole address, case-insensitive. */
  repo_uri?: string
  /** True for sessions in which apply and merge are locked, false for the others. */
  locked?: boolean
  /** Start of the period (inclusive), as RFC 3339 in UTC with six digits: `2026-03-01T14:25:30.123456Z`. */
  created_after?: string
  /** End of the period (exclusive), in the same form. */
  created_before?: string
  /** Part of the first query, repository URI or uuid, case-insensitive, without wildcards. Not blank. */
  search?: string
  /** Part of the owner's e-mail, compared like `search`. */
  user_email?: string
}

/** Joins the conditions that are not null, each behind `AND`. */
export const joinConditions = (sql: Sql, conditions: readonly (Query | null)[]): Query =>
  conditions.reduce<Query>((all, one) => (one ? sql`${all} AND ${one}` : all), sql``)

/** Returns the conditions on the changing columns of a session and on its cloud, for a table or subquery `s`. */
export const kindConditions = (sql: Sql, { status, cloud, mode, locked }: SessionSelection): (Query | null)[] => [
  status === undefined ? null : sql`s.last_status = ${status}`,
  cloud === undefined ? null : sql`s.provider = ${cloud}`,
  mode === undefined ? null : sql`s.last_mode = ${mode}`,
  locked === undefined ? null : sql`s.is_blocked = ${locked}`,
]

/** Returns the condition on the operation, which never changes. */
export const operationCondition = (sql: Sql, { operation }: SessionSelection): Query | null =>
  operation === undefined ? null : sql`s.operation = ${operation}`

export const timeConditions = (
  sql: Sql,
  { created_after, created_before }: Pick<SessionSelection, 'created_after' | 'created_before'>,
): (Query | null)[] => [
  created_after === undefined ? null : sql`s.created_at >= ${created_after}::timestamptz`,
  created_before === undefined ? null : sql`s.created_at < ${created_before}::timestamptz`,
]

/** True if the selection can be counted by kind and month: it names no owner, no repository and no searched text. */
export const isOfKinds = (selection: SessionSelection): boolean =>
  selection.owner_id === undefined &&
  selection.repo_uri === undefined &&
  selection.search === undefined &&
  selection.user_email === undefined

/** True if the selection includes only some kinds of sessions. */
export const namesKinds = ({ operation, status, cloud, mode, locked }: SessionSelection): boolean =>
  [operation, status, cloud, mode, locked].some((part) => part !== undefined)

/** The sessions of a selection, as part of a statement. */
export interface MatchQuery {
  /** The criteria that matter: without a search that every session matches. */
  selection: SessionSelection
  /** `FROM … WHERE …` with `id` and `created_at` of `s`. */
  fromWhere: Query
  /** The same with all columns of the table `sessions`. */
  fromSessions: Query
  /** A statement that answers their number as `total`. */
  count: Query
  /** True if the best query plan depends on the values, so that a prepared, general plan must not be used. */
  planDependsOnValues: boolean
}

/** Builds the query of a selection. A search may need a statement of its own, which is run here. */
export async function matchSessions(sql: Sql, asked: SessionSelection): Promise<MatchQuery> {
  const found = asked.search === undefined ? null : await findMatchingRepositories(sql, asked.search)
  const { search, ...others } = asked
  const repositories = found === 'all' ? null : found
  const selection = repositories ? asked : others
  const { user_email } = selection
  const kinds = kindConditions(sql, selection).filter((condition) => condition !== null)
  const conditions = [
    ...ownCondition(sql, selection),
    operationCondition(sql, selection),
    ...timeConditions(sql, selection),
    emailCondition(sql, selection),
    // The searched table lacks the columns that change.
    ...(repositories && kinds.length > 0
      ? [sql`s.id IN (SELECT s.id FROM sessions s WHERE true ${joinConditions(sql, kinds)})`]
      : kinds),
  ]
  const from = repositories
    ? sql`FROM (SELECT session_id AS id, * FROM session_search) s WHERE true`
    : sql`FROM sessions s WHERE true`
  const matches = search === undefined || !repositories ? null : searchCondition(sql, search, repositories)
  const fromWhere = sql`${from} ${joinConditions(sql, [matches, ...conditions])}`
  return {
    selection,
    fromWhere,
    count: isList(repositories)
      ? countByRepository(sql, { search: search ?? '', repositories, conditions, others, from })
      : sql`SELECT count(*) AS total ${fromWhere}`,
    fromSessions: repositories ? sql`FROM sessions s WHERE s.id IN (SELECT s.id ${fromWhere})` : fromWhere,
    planDependsOnValues: repositories !== null || user_email !== undefined,
  }
}

const ownCondition = (sql: Sql, { owner_id, repo_uri }: SessionSelection): (Query | null)[] => [
  owner_id === undefined ? null : sql`s.user_id = ${owner_id}`,
  repo_uri === undefined ? null : sql`s.repository_id = md5(lower(${repo_uri}))::uuid`,
]

type Repositories = string[] | 'all' | 'many'

const isList = (repositories: Repositories | null): repositories is string[] =>
  Array.isArray(repositories) && repositories.length > 0

const contentCondition = (sql: Sql, search: string): Query =>
  sql`s.content LIKE lower(${containing(search.replaceAll('\x1f', ' '))})`

/**
 * Counts the sessions of the found repositories in an index of `sessions` that has all criteria, and adds those of other
 * repositories whose text matches. Together in one condition, all of them would be read from the table.
 */
function countByRepository(
  sql: Sql,
  {
    search,
    repositories,
    conditions,
    others,
    from,
  }: {
    search: string
    repositories: string[]
    conditions: readonly (Query | null)[]
    others: SessionSelection
    from: Query
  },
): Query {
  const isFound = sql`s.repository_id = ANY(${repositories}::uuid[])`
  const ofSessions = [...ownCondition(sql, others), operationCondition(sql, others), ...timeConditions(sql, others)]
  return sql`
    SELECT (
      SELECT count(*) FROM sessions s
      WHERE ${isFound} ${joinConditions(sql, [...ofSessions, emailCondition(sql, others), ...kindConditions(sql, others)])}
    ) + (
      SELECT count(*) ${from} AND ${contentCondition(sql, search)} AND NOT ${isFound} ${joinConditions(sql, conditions)}
    ) AS total`
}

const emailCondition = (sql: Sql, { user_email }: SessionSelection): Query | null =>
  user_email === undefined ? null : sql`s.user_id IN (SELECT id FROM users WHERE email ILIKE ${containing(user_email)})`

/** Returns the condition of a search. */
function searchCondition(sql: Sql, search: string, repositories: Exclude<Repositories, 'all'>): Query {
  const inContent = contentCondition(sql, search)
  if (repositories.length === 0) return inContent
  const ids =
    repositories === 'many'
      ? sql`ARRAY(SELECT id FROM searched_repositories WHERE uri LIKE lower(${containing(search)}))`
      : sql`${repositories}::uuid[]`
  return sql`(s.repository_id = ANY(${ids}) OR ${inContent})`
}

const MAX_LISTED_REPOSITORIES = 500

/**
 * Finds the repositories whose address contains the searched text. Up to 500 ids are returned as a list: with inlined
 * ids the planner knows their number.
 * @returns `all` when every known repository matches, `many` when more than 500 do
 */
async function findMatchingRepositories(sql: Sql, search: string): Promise<Repositories> {
  const rows = await sql<{ id: string; known: number }[]>`
    SELECT id, (SELECT count(*) FROM searched_repositories) AS known
    FROM searched_repositories WHERE uri LIKE lower(${containing(search)})`
  if (rows.length > 0 && rows.length === rows[0]?.known) return 'all'
  return rows.length > MAX_LISTED_REPOSITORIES ? 'many' : rows.map(({ id }) => id)
}
