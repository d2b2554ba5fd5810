import type { LlmConfig, ModelBudget } from '../../config/sections/llm.ts'
import { PlatformError } from '../base/errors.ts'
import type { Sql } from '../data/db/sql.ts'
import { InferenceError, type LlmClient, StoppedInference, type Usage } from '../llm/inference.ts'
import { createPricing } from '../llm/prices.ts'
import type { Budget } from './schema.ts'
import { BUDGETS, type BudgetName, readSpent, recordSpend, type Spender, type Spent } from './spend.ts'

const UNITS = ['tokens', 'dollars'] as const

/** Compares limits with what was spent; one entry for each configured limit, in the order of `BUDGETS`. */
export const compareBudgets = (limits: ModelBudget, spent: Partial<Record<BudgetName, Spent>>): Budget[] =>
  BUDGETS.flatMap((budget) =>
    UNITS.flatMap((unit) => {
      const limit = limits[budget]?.[unit]
      const used = Math.round((spent[budget]?.[unit] ?? Number.NaN) * 1e6) / 1e6
      if (limit === undefined || Number.isNaN(used)) return []
      return { budget, unit, limit, used, left: Math.max(0, Math.round((limit - used) * 1e6) / 1e6) }
    }),
  )

/** Returns the day of a time in UTC, `2026-03-01`. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10)
/** Returns the beginning of the next day in UTC, when budgets of a day are whole again. */
export const dayAfter = (now: Date): Date => new Date(Date.parse(dayOf(now)) + 24 * 60 * 60 * 1000)

/** Thrown before a call, and for a request of a round, when a budget is used up. */
export class BudgetReached extends PlatformError {
  /** @param before what the refusal means to the caller */
  constructor(reached: Budget, now: Date, before = '') {
    const retryAfterSeconds = Math.ceil((dayAfter(now).getTime() - now.getTime()) / 1000)
    super('BudgetReached', 429, `${before}${describe(reached, now)}`, { retryAfterSeconds })
  }
}

const OWNERS = {
  round: 'a round',
  user_day: 'one user for one day',
  platform_day: 'all users together for one day',
} as const

function describe({ budget, unit, limit, used }: Budget, now: Date): string {
  const amount = (value: number) =>
    unit === 'tokens' ? value.toLocaleString('en-US') : `$${value.toFixed(value < 0.1 ? 4 : 2)}`
  const when = budget === 'round' ? '' : ` on ${dayOf(now)} (UTC)`
  const again =
    budget === 'round'
      ? 'Every round has its own, so a smaller request in a new session may fit.'
      : `It is whole again at ${dayOf(dayAfter(now))} 00:00 UTC.`
  return (
    `the model budget of ${OWNERS[budget]} is used up: its limit is ${amount(limit)}${unit === 'tokens' ? ' tokens' : ''}, and ` +
    `${amount(used)} were used${when}. ` +
    `${again} Who operates the platform can raise it (llm.budget.${budget}.${unit}).`
  )
}

/** The parts of a context that count and limit model calls. */
export interface BudgetContext {
  sql: Sql
  config: { llm: Pick<LlmConfig, 'budget' | 'prices'> }
  now: () => Date
}

/** Reads what is left of the configured budgets. Without any, nothing is read. */
export async function readBudgets({ sql, config, now }: BudgetContext, spender: Spender): Promise<Budget[]> {
  if (Object.keys(config.llm.budget).length === 0) return []
  const { round, ...days } = await readSpent(sql, spender, dayOf(now()), {
    platform: config.llm.budget.platform_day !== undefined,
  })
  return compareBudgets(config.llm.budget, spender.round_id === null ? days : { round, ...days })
}

/** Throws `BudgetReached`, whose text begins with `before`, when a budget of the spender is used up. */
export async function assertBudgetLeft(context: BudgetContext, spender: Spender, before?: string): Promise<void> {
  const reached = (await readBudgets(context, spender)).find(({ left }) => left === 0)
  if (reached) throw new BudgetReached(reached, context.now(), before)
}

/**
 * Wraps a client so that every call is counted for a user and a round, and none begins when a budget is used up. Nothing
 * is locked while a call runs, so calls that run at the same time may exceed a budget together, each by what one call
 * may take. Errors: `BudgetReached`; those of the database.
 * @param onSpend receives the budgets after each call; not called without any
 */
export function limitSpend(
  context: BudgetContext,
  llm: LlmClient,
  spender: Spender,
  onSpend: (budgets: Budget[]) => void = () => {},
): LlmClient {
  const price = createPricing(context.config.llm.prices)
  const count = async ({ model, usage }: { model: string; usage: Usage }) => {
    const cost = { usage, dollars: price(model, usage) }
    await recordSpend(context.sql, spender, dayOf(context.now()), cost)
    const budgets = await readBudgets(context, spender)
    if (budgets.length > 0) onSpend(budgets)
  }
  return {
    ...llm,
    complete: async (request) => {
      await assertBudgetLeft(context, spender)
      const answer = await llm.complete(request).catch(async (error: unknown) => {
        if ((error instanceof InferenceError || error instanceof StoppedInference) && error.used)
          await count(error.used)
        throw error
      })
      await count(answer)
      return answer
    },
    search: async (query, options) => {
      await assertBudgetLeft(context, spender)
      const used: { model: string; usage: Usage }[] = []
      const observe = (one: { model: string; usage: Usage }) => {
        used.push(one)
        options?.observe?.(one)
      }
      try {
        return await llm.search(query, { ...options, observe })
      } finally {
        for (const one of used) await count(one)
      }
    },
  }
}
