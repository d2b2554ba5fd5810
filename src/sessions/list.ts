import type { Db, Query, Sql } from '../data/db/sql.ts'
import { factColumns, factJoins } from '../rounds/round.ts'
import { countKinds, type Kind } from './lists/kinds.ts'
import {
  isOfKinds,
  joinConditions,
  type MatchQuery,
  matchSessions,
  namesKinds,
  type SessionSelection,
  timeConditions,
} from './lists/matches.ts'
import type { SessionSummary } from './session-detail.ts'

/** The sort key: creation or last change (`updated_at`), the latest first. */
type Sort = 'created' | 'last_activity'

export type SummaryRow = Omit<SessionSummary, 'workspace'> & {
  uri: string
  branch: string
  root_path: string | null
}

export const toSummary = ({ uri, branch, root_path, ...summary }: SummaryRow): SessionSummary => ({
  ...summary,
  workspace: { uri, branch, root_path },
})

/** Returns the columns of a `SummaryRow` of the session `s`, with the joins of `factJoins`. */
export const summaryColumns = (sql: Db): Query => sql`
  ${factColumns(sql)}, CASE WHEN s.is_blocked THEN s.lock END AS lock, s.created_at, s.updated_at`

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
  const { page, page_size, sort = 'created', include_cost = false, ...asked } = filter
  const { total, kinds, query } = await countMatches(sql, asked)
  const { selection } = query
  const offset = (page - 1) * page_size
  if (offset >= total) return { items: [], total }
  const request = { selection, query, sort, limit: page_size, offset, include_cost, total, kinds }
  const rows = await readPage(sql, request)
  return { items: rows.map(toSummary), total }
}

async function countMatches(
  sql: Sql,
  asked: SessionSelection,
): Promise<{ total: number; kinds: Kind[] | null; query: MatchQuery }> {
  const query = await matchSessions(sql, asked)
  if (isOfKinds(query.selection)) {
    const kinds = await countKinds(sql, query.selection)
    return { total: kinds.reduce((sum, { n }) => sum + n, 0), kinds, query }
  }
  const [row] = await sql<{ total: number }[]>`${query.count}`.unprepared(query.planDependsOnValues)
  return { total: row?.total ?? 0, kinds: null, query }
}

/** Up to this many sessions are read and sorted. With more, a scan from the newest until the page is full is faster. */
const FEW_MATCHES = 1_000
/** The same limit for a period in a list by last activity, because that scan is not in order of creation. */
const FEW_IN_PERIOD = 50_000
/** Maximum rows that are read to build a page by kind. */
const MAX_ROWS_OF_KINDS = 20_000

interface PageRequest {
  selection: SessionSelection
  query: MatchQuery
  sort: Sort
  limit: number
  offset: number
  /** True for entries with the cost of their finished rounds. */
  include_cost: boolean
  total: number
  /** The matching kinds, where the selection can be counted by them. */
  kinds: readonly Kind[] | null
}

/** Reads a page of a selection. The number of matching sessions affects the query only, not the result. */
async function readPage(sql: Sql, request: PageRequest): Promise<SummaryRow[]> {
  const { sort } = request
  const kinds = selectableKinds(request)
  if (kinds) return await readSummaries(sql, request, findByKind(sql, kinds, request))
  const { fromWhere, fromSessions, planDependsOnValues } = request.query
  const from = sort === 'last_activity' ? fromSessions : fromWhere
  const matching = sql`SELECT s.id, ${orderColumn(sql, sort)} AS at ${from}`
  const isMaterialized = areFew(request) ? sql`MATERIALIZED` : sql`NOT MATERIALIZED`
  return await readSummaries(sql, request, sql`${isMaterialized} (${matching})`, planDependsOnValues)
}

const orderColumn = (sql: Sql, sort: Sort): Query => (sort === 'created' ? sql`s.created_at` : sql`s.updated_at`)

function areFew({ selection, sort, total }: PageRequest): boolean {
  const isPeriod = selection.created_after !== undefined || selection.created_before !== undefined
  return total <= (isPeriod && sort === 'last_activity' ? FEW_IN_PERIOD : FEW_MATCHES)
}

/** Returns the kinds from which the page is built; null when another way is faster, or the only one. */
function selectableKinds(request: PageRequest): Kind[] | null {
  const { selection, kinds, limit, offset, total } = request
  if (!kinds || !namesKinds(selection)) return null
  if (kinds.some(({ provider, last_mode }) => provider === null || last_mode === null)) return null
  // The same kind in flight and not in flight is one range of the index.
  const ranges = new Map(kinds.map((kind) => [JSON.stringify({ ...kind, in_flight: null, n: null }), kind]))
  const rows = Math.min(total, ranges.size * (offset + limit))
  return rows <= MAX_ROWS_OF_KINDS ? [...ranges.values()] : null
}

/** Reads the latest sessions of each kind from an index that holds every kind in order. */
function findByKind(sql: Sql, kinds: readonly Kind[], { selection, sort, limit, offset }: PageRequest): Query {
  const column = orderColumn(sql, sort)
  return sql`MATERIALIZED (
    SELECT latest.id, latest.at
    FROM unnest(${kinds.map((kind) => kind.last_status)}::session_status[],
                ${kinds.map((kind) => kind.last_mode)}::round_mode[], ${kinds.map((kind) => kind.provider)}::cloud[],
                ${kinds.map((kind) => kind.operation)}::operation[], ${kinds.map((kind) => kind.is_blocked)}::boolean[])
      AS kind (last_status, last_mode, provider, operation, is_blocked)
    CROSS JOIN LATERAL (
      SELECT s.id, ${column} AS at FROM sessions s
      WHERE s.last_status = kind.last_status AND s.last_mode = kind.last_mode AND s.provider = kind.provider
        AND s.operation = kind.operation AND s.is_blocked = kind.is_blocked
        ${joinConditions(sql, timeConditions(sql, selection))}
      ORDER BY ${column} DESC, s.id DESC LIMIT ${offset + limit}
    ) latest
  )`
}

/** @param matching a subquery with `id` and `at`, behind `MATERIALIZED` or `NOT MATERIALIZED` */
async function readSummaries(
  sql: Sql,
  { limit, offset, sort, include_cost }: PageRequest,
  matching: Query,
  planDependsOnValues = false,
): Promise<SummaryRow[]> {
  return await sql<SummaryRow[]>`
    WITH matching AS ${matching}
    SELECT ${summaryColumns(sql)} ${include_cost ? sql`, ${costOfSession(sql)}` : sql``}
    FROM (SELECT id, at FROM matching ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${offset}) found
    JOIN sessions s ON s.id = found.id ${factJoins(sql)}
    ORDER BY ${orderColumn(sql, sort)} DESC, s.id DESC`.unprepared(planDependsOnValues)
}

/**
 * Returns the sum over the finished rounds of the session `s`, as the column `cost_usd`. Null when none has finished,
 * or when a cost is unknown. A round that ended before a worker claimed it has no cost.
 */
const costOfSession = (sql: Sql): Query => sql`(
  SELECT CASE WHEN bool_and(r.attempts = 0 OR r.usage->>'cost_usd' IS NOT NULL)
         THEN round(sum(coalesce((r.usage->>'cost_usd')::numeric, 0)), 6)::float8 END
  FROM rounds r WHERE r.session_id = s.id AND r.finished_at IS NOT NULL
) AS cost_usd`
