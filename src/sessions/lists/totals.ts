import { STATUSES, type Status } from '../../base/vocabulary.ts'
import type { Sql } from '../../data/db/sql.ts'
import { countKinds, type Kind } from './kinds.ts'
import { isOfKinds, matchSessions, type SessionSelection } from './matches.ts'

type Group = Pick<Kind, 'last_status' | 'in_flight' | 'is_blocked' | 'n'>

/** Counts the sessions of a selection, in total and by their latest status; 0 for a status that no session has. */
export async function countTotals(sql: Sql, selection: SessionSelection) {
  const groups = await countGroups(sql, selection)
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
  const { fromSessions, planDependsOnValues, ...query } = await matchSessions(sql, selection)
  if (isOfKinds(query.selection)) return await countKinds(sql, query.selection)
  return await sql<Group[]>`
    SELECT s.last_status, s.in_flight, s.is_blocked, count(*) AS n ${fromSessions}
    GROUP BY s.last_status, s.in_flight, s.is_blocked`.unprepared(planDependsOnValues)
}

/** The usage of rounds. `cost_usd`: US dollars of the rounds whose cost is known; the unknown ones are those that ran. */
const NO_SPEND = {
  rounds: 0,
  cost_usd: 0,
  rounds_of_unknown_cost: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  engine_s: 0,
  model_s: 0,
}

/**
 * Sums the usage of the rounds of a selection. Figures are stored as JSON, and reading a million takes too long, so
 * only rounds of the last 30 days count. The end of a round changes its session, so only sessions with activity in that
 * time are read.
 */
export async function sumSpend(sql: Sql, selection: SessionSelection): Promise<typeof NO_SPEND> {
  const { fromSessions, planDependsOnValues } = await matchSessions(sql, selection)
  const [row] = await sql<(typeof NO_SPEND)[]>`
    SELECT count(*) AS rounds, coalesce(round(sum((u.usage->>'cost_usd')::numeric), 6), 0)::float8 AS cost_usd,
           count(*) FILTER (WHERE u.attempts > 0 AND u.usage->>'cost_usd' IS NULL) AS rounds_of_unknown_cost,
           coalesce(sum((u.usage->>'input_tokens')::bigint), 0)::bigint AS input_tokens,
           coalesce(sum((u.usage->>'cached_tokens')::bigint), 0)::bigint AS cached_tokens,
           coalesce(sum((u.usage->>'output_tokens')::bigint), 0)::bigint AS output_tokens,
           coalesce(round(sum((u.usage->>'engine_s')::numeric), 3), 0)::float8 AS engine_s,
           coalesce(round(sum((u.usage->>'model_s')::numeric), 3), 0)::float8 AS model_s
    FROM (
      SELECT r.usage, r.attempts FROM rounds r
      JOIN (SELECT s.id ${fromSessions} AND s.updated_at >= now() - interval '30 days') m ON m.id = r.session_id
      WHERE r.finished_at >= now() - interval '30 days'
    ) u`.unprepared(planDependsOnValues)
  return row ?? NO_SPEND
}

/** Counts the waiting rounds. Running rounds are few, and an index has their sessions. */
export async function countWaiting(sql: Sql, selection: SessionSelection) {
  const none: { waiting: number; oldest_waiting_at: string | null } = { waiting: 0, oldest_waiting_at: null }
  const { fromWhere, planDependsOnValues } = await matchSessions(sql, selection)
  const [row] = await sql<(typeof none)[]>`
    WITH waiting AS MATERIALIZED (
      SELECT r.session_id, r.created_at FROM sessions i JOIN rounds r ON r.session_id = i.id
      WHERE i.in_flight AND r.finished_at IS NULL AND (r.lease_until IS NULL OR r.lease_until < now())
    )
    SELECT count(*) AS waiting, min(w.created_at) AS oldest_waiting_at
    FROM waiting w WHERE EXISTS (SELECT FROM (SELECT s.id ${fromWhere}) m WHERE m.id = w.session_id)`.unprepared(
    planDependsOnValues,
  )
  return row ?? none
}
