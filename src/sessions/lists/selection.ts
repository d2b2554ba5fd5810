import type { Cloud, Mode, Operation, Status } from '../../base/vocabulary.ts'
import type { Query, Sql } from '../../data/db/sql.ts'

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
