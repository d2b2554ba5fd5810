import type { AttemptResult, Round } from '../../client/api/calls.ts'
import { formatMoney, formatNumber } from '../words.ts'

/** The tokens and US dollars of model calls. Null dollars: the price of a call is unknown. */
interface Spend {
  tokens: number
  cost_usd: number | null
}

type Measured = Pick<AttemptResult, 'input_tokens' | 'output_tokens' | 'cost_usd'>

/** Returns the sum of rounds or attempts; null when there are none. */
export function sumSpend(parts: readonly Measured[]): Spend | null {
  if (parts.length === 0) return null
  const spend: Spend = { tokens: 0, cost_usd: 0 }
  for (const { input_tokens, output_tokens, cost_usd } of parts) {
    spend.tokens += (input_tokens ?? 0) + (output_tokens ?? 0)
    spend.cost_usd = spend.cost_usd === null || cost_usd === null ? null : spend.cost_usd + cost_usd
  }
  return spend
}

/** Returns the cost of a round; while it runs, that of its ended attempts. */
export const spendOf = ({ usage, attempts }: Round): Spend | null =>
  sumSpend(usage ? [usage] : attempts.filter(({ input_tokens }) => input_tokens !== null))

/** Returns `1,234 tokens` and, if known, `$0.12`. */
export const formatSpend = ({ tokens, cost_usd }: Spend): string[] => [
  `${formatNumber(tokens)} tokens`,
  ...(cost_usd === null ? [] : [formatMoney(cost_usd)]),
]
