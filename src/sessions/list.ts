import type { Sql } from '../data/db/sql.ts'
import { countKinds, type Kind } from './lists/kinds.ts'
import { type MatchQuery, matchSessions } from './lists/matches.ts'
import { readPage, type Sort, type SummaryRow } from './lists/page.ts'
import { isOfKinds, type SessionSelection } from './lists/selection.ts'
import type { SessionSummary } from './session-detail.ts'

export type { SummaryRow }

export interface SessionFilter extends SessionSelection {
  /** Starts at 1. */
  page: number
  page_size: number
  /** Default `created`. */
  sort?: Sort
  /** True for entries with `cost_usd`. Default false. */
  include_cost?: boolean
}

/**
 * Lists sessions, newest or last active first. A page beyond the end is empty; `total` is the number of all sessions
 * that match the filter. They are counted first, because the count decides how the page is read; the query planner
 * would have to guess.
 */
export async function listSessions(
  sql: Sql,
  filter: SessionFilter,
): Promise<{ items: SessionSummary[]; total: number }> {
  const { page, page_size, sort = 'created', include_cost = false, ...selection } = filter
  const { total, kinds, query } = await countMatches(sql, selection)
  const offset = (page - 1) * page_size
  if (offset >= total) return { items: [], total }
  const request = { selection, query, sort, limit: page_size, offset, include_cost, total, kinds }
  const rows = await readPage(sql, request)
  return { items: rows.map(toSummary), total }
}

async function countMatches(
  sql: Sql,
  selection: SessionSelection,
): Promise<{ total: number; kinds: Kind[] | null; query: MatchQuery }> {
  const query = await matchSessions(sql, selection)
  if (isOfKinds(selection)) {
    const kinds = await countKinds(sql, selection)
    return { total: kinds.reduce((sum, { n }) => sum + n, 0), kinds, query }
  }
  const [row] = await sql<{ total: number }[]>`SELECT count(*) AS total ${query.fromWhere}`.unprepared(
    query.planDependsOnValues,
  )
  return { total: row?.total ?? 0, kinds: null, query }
}

export const toSummary = ({ uri, branch, root_path, ...summary }: SummaryRow): SessionSummary => ({
  ...summary,
  workspace: { uri, branch, root_path },
})
