import type { Db, Sql } from '../data/db/sql.ts'
import type { Usage } from '../llm/inference.ts'

/** Who pays for a call, and for which round; null for a call outside of a round. */
export interface Spender {
  user_id: number
  round_id: number | null
}

/** What calls took: all tokens, and US dollars of the calls whose price is known. */
export interface Spent {
  tokens: number
  dollars: number
}

export const BUDGETS = ['round', 'user_day', 'platform_day'] as const
export type BudgetName = (typeof BUDGETS)[number]

/**
 * Adds a call to the sums of its round and of its user's day, in one statement and whoever holds the round by now: it
 * is paid. Must be called once, as soon as the answer is there, so that nothing is lost with a worker.
 * @param dollars null when the price of the model is not known
 */
export async function recordSpend(
  sql: Sql,
  { user_id, round_id }: Spender,
  day: string,
  { usage, dollars }: { usage: Usage; dollars: number | null },
): Promise<void> {
  const { input_tokens, cached_tokens, output_tokens } = usage
  await sql`
    WITH spent (input_tokens, cached_tokens, output_tokens, cost_usd, unpriced_calls) AS (
      VALUES (${input_tokens}::bigint, ${cached_tokens}::bigint, ${output_tokens}::bigint,
              ${dollars ?? 0}::double precision, ${dollars === null ? 1 : 0}::integer)
    ), round AS (
      INSERT INTO round_spend AS r SELECT ${round_id}::integer, spent.* FROM spent WHERE ${round_id}::integer IS NOT NULL
      ON CONFLICT (round_id) DO UPDATE SET ${sums(sql, 'r')}
    )
    INSERT INTO user_spend AS u SELECT ${day}::date, ${user_id}::integer, spent.* FROM spent
    ON CONFLICT (day, user_id) DO UPDATE SET ${sums(sql, 'u')}`
}

const sums = (sql: Sql, table: 'r' | 'u') => sql`
  input_tokens = ${sql(table)}.input_tokens + excluded.input_tokens,
  cached_tokens = ${sql(table)}.cached_tokens + excluded.cached_tokens,
  output_tokens = ${sql(table)}.output_tokens + excluded.output_tokens,
  cost_usd = ${sql(table)}.cost_usd + excluded.cost_usd,
  unpriced_calls = ${sql(table)}.unpriced_calls + excluded.unpriced_calls`

/**
 * Reads what the round, the user's day and the platform's day took until now.
 * @param options.platform false leaves the platform's day out, which is a sum over all users
 */
export async function readSpent(
  db: Db,
  { user_id, round_id }: Spender,
  day: string,
  { platform }: { platform: boolean },
): Promise<Record<BudgetName, Spent>> {
  const rows = await db<(Spent & { budget: BudgetName })[]>`
    SELECT 'round' AS budget, input_tokens + output_tokens AS tokens, cost_usd AS dollars
    FROM round_spend WHERE round_id = ${round_id}
    UNION ALL
    SELECT 'user_day', input_tokens + output_tokens, cost_usd
    FROM user_spend WHERE day = ${day}::date AND user_id = ${user_id}
    UNION ALL
    SELECT 'platform_day', coalesce(sum(input_tokens + output_tokens), 0)::bigint, coalesce(sum(cost_usd), 0)
    FROM user_spend WHERE day = ${day}::date AND ${platform}::boolean`
  const spent = { round: NOTHING, user_day: NOTHING, platform_day: NOTHING }
  for (const { budget, tokens, dollars } of rows) spent[budget] = { tokens, dollars }
  return spent
}

const NOTHING: Spent = { tokens: 0, dollars: 0 }

/** The model calls of one user in one day. */
export interface UserDay {
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  /** Null when the price of a call is not known. */
  cost_usd: number | null
}

/** Reads the calls of a user in a day, inside and outside of rounds. */
export async function readUserDay(db: Db, user_id: number, day: string): Promise<UserDay> {
  const [row] = await db<UserDay[]>`
    SELECT input_tokens, cached_tokens, output_tokens,
           CASE WHEN unpriced_calls = 0 THEN round(cost_usd::numeric, 6)::float8 END AS cost_usd
    FROM user_spend WHERE day = ${day}::date AND user_id = ${user_id}`
  return row ?? { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 }
}

/** Reads the day of the user who took most of it, and that of the platform. */
export async function readBusiestDay(db: Db, day: string): Promise<Record<'user_day' | 'platform_day', Spent>> {
  const [row] = await db<Record<`${'most' | 'all'}_${keyof Spent}`, number>[]>`
    SELECT coalesce(max(input_tokens + output_tokens), 0)::bigint AS most_tokens,
           coalesce(max(cost_usd), 0) AS most_dollars,
           coalesce(sum(input_tokens + output_tokens), 0)::bigint AS all_tokens,
           coalesce(sum(cost_usd), 0) AS all_dollars
    FROM user_spend WHERE day = ${day}::date`
  const { most_tokens = 0, most_dollars = 0, all_tokens = 0, all_dollars = 0 } = row ?? {}
  return {
    user_day: { tokens: most_tokens, dollars: most_dollars },
    platform_day: { tokens: all_tokens, dollars: all_dollars },
  }
}
