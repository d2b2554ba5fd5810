import { STATUSES, type Status } from '../../base/vocabulary.ts'
import type { Sql } from '../../data/db/sql.ts'
import { countKinds } from './kinds.ts'
import { matchSessions } from './matches.ts'
import { isOfKinds, normaliseSelection, type SessionSelection } from './selection.ts'

/** Numbers of matching sessions, in total and by status. */
export interface SessionTotals {
  total: number
  in_flight: number
  /** Sessions in which apply and merge are locked. */
  locked: number
  /** By the most recent status; 0 for a status that no session has. */
  statuses: Record<Status, number>
}

interface Group {
  last_status: Status
  in_flight: boolean
  is_blocked: boolean
  n: number
}

export async function countTotals(sql: Sql, input: SessionSelection): Promise<SessionTotals> {
  const selection = normaliseSelection(input)
  const groups = selection === null ? [] : await countGroups(sql, selection)
  const sum = (condition: (group: Group) => boolean) => groups.filter(condition).reduce((total, { n }) => total + n, 0)
  const statuses = Object.fromEntries(
    STATUSES.map((status) => [status, sum(({ last_status }) => last_status === status)]),
  ) as Record<Status, number>
  return {
    total: sum(() => true),
    in_flight: sum(({ in_flight }) => in_flight),
    locked: sum(({ is_blocked }) => is_blocked),
    statuses,
  }
}

async function countGroups(sql: Sql, selection: SessionSelection): Promise<Group[]> {
  if (isOfKinds(selection)) return await countKinds(sql, selection)
  const { fromWhere, searched, planDependsOnValues } = await matchSessions(sql, selection)
  const from = searched ? sql`FROM sessions s WHERE s.id IN (SELECT s.id ${fromWhere})` : fromWhere
  const query = sql<Group[]>`
    SELECT s.last_status, s.in_flight, s.is_blocked, count(*) AS n ${from}
    GROUP BY s.last_status, s.in_flight, s.is_blocked`
  return await (planDependsOnValues ? query.unprepared() : query)
}
