import type { Cloud, Mode, Operation, Status } from '../../base/vocabulary.ts'
import type { Query, Sql } from '../../data/db/sql.ts'
import { joinConditions, kindConditions, operationCondition, type SessionSelection, timeConditions } from './matches.ts'

/** Sessions that share all properties by which they are counted. */
export interface Kind {
  operation: Operation
  last_status: Status
  /** Null for rows without an engine provider, which the platform does not write. */
  provider: Cloud | null
  last_mode: Mode | null
  is_blocked: boolean
  in_flight: boolean
  n: number
}

/**
 * Counts the sessions of a selection that `isOfKinds`, by kind. The few running ones are read; the others are counted
 * by month, so that only partly selected months are read.
 */
export async function countKinds(sql: Sql, selection: SessionSelection): Promise<Kind[]> {
  const conditions = joinConditions(sql, [operationCondition(sql, selection), ...kindConditions(sql, selection)])
  const { months, parts } = splitByMonth(selection)
  const read = (period: Period, inFlight: Query) => sql`
    UNION ALL
    SELECT s.operation, s.last_status, s.provider, s.last_mode, s.is_blocked, s.in_flight, 1
    FROM sessions s WHERE ${inFlight} ${conditions} ${joinConditions(sql, timeConditions(sql, period))}`
  const partial = parts.reduce<Query>((all, part) => sql`${all} ${read(part, sql`NOT s.in_flight`)}`, sql``)
  return await sql<Kind[]>`
    SELECT operation, last_status, provider, last_mode, is_blocked, in_flight, sum(n)::bigint AS n
    FROM (
      SELECT s.operation, s.last_status, s.provider, s.last_mode, s.is_blocked, false AS in_flight, s.n
      FROM session_counts s WHERE ${monthCondition(sql, months)} ${conditions}
      ${partial}
      ${read(selection, sql`s.in_flight`)}
    ) counted
    GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0`
}

type Period = Pick<SessionSelection, 'created_after' | 'created_before'>

/** Splits a period into whole months in UTC (`from` inclusive, `to` exclusive; null for none) and its two ends. */
export function splitByMonth({ created_after: after, created_before: before }: Period): {
  months: { from?: string; to?: string } | null
  parts: Period[]
} {
  const from = after === undefined ? undefined : startOfMonth(after) === after ? after : nextMonth(after)
  const to = before === undefined ? undefined : startOfMonth(before)
  if (from !== undefined && to !== undefined && from >= to)
    return { months: null, parts: [{ created_after: after, created_before: before }] }
  const parts: Period[] = []
  if (after !== undefined && from !== undefined && after < from)
    parts.push({ created_after: after, created_before: from })
  if (before !== undefined && to !== undefined && to < before) parts.push({ created_after: to, created_before: before })
  return { months: { from, to }, parts }
}

const startOfMonth = (at: string): string => `${at.slice(0, 7)}-01T00:00:00.000000Z`

function nextMonth(at: string): string {
  const [year = 0, month = 1] = at.slice(0, 7).split('-').map(Number)
  // The month after the last one that the format can express: nothing is created then, so any later text works.
  if (year === 9999 && month === 12) return '9999-12-31T23:59:59.999999Z'
  const [nextYear, next] = month === 12 ? [year + 1, 1] : [year, month + 1]
  return `${String(nextYear).padStart(4, '0')}-${String(next).padStart(2, '0')}-01T00:00:00.000000Z`
}

function monthCondition(sql: Sql, months: { from?: string; to?: string } | null): Query {
  if (months === null) return sql`false`
  const { from, to } = months
  return sql`true ${joinConditions(sql, [
    from === undefined ? null : sql`s.month >= ${from.slice(0, 10)}::date`,
    to === undefined ? null : sql`s.month < ${to.slice(0, 10)}::date`,
  ])}`
}
