import type { SampleResult } from './results.ts'

export interface Caps {
  /** US dollars. Null means that there is no cap. */
  max_cost: number | null
  /** Input and output tokens together. Null means that there is no cap. */
  max_tokens: number | null
}
type Spent = Pick<SampleResult, 'cost_usd' | 'input_tokens' | 'output_tokens'>

/**
 * Says why no further sample may begin; null when one may. A running sample counts as the mean of the finished ones, so
 * that the cap is exceeded only when a sample is more expensive than the mean.
 * @param spent all samples that count, also those of earlier runs
 */
export function findReachedCap(
  { max_cost, max_tokens }: Caps,
  spent: readonly Spent[],
  running: number,
): string | null {
  const share = spent.length === 0 ? 0 : running / spent.length
  if (max_cost !== null) {
    if (spent.some(({ cost_usd }) => cost_usd === null))
      return 'the price of a model is not known, so --max-cost cannot be kept: set llm.prices, or use --max-tokens'
    const cost = spent.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
    if (cost * (1 + share) >= max_cost)
      return `--max-cost ${max_cost} is reached: ${cost.toFixed(4)} USD spent, ${running} samples under way`
  }
  if (max_tokens !== null) {
    const tokens = spent.reduce((sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens, 0)
    if (tokens * (1 + share) >= max_tokens)
      return `--max-tokens ${max_tokens} is reached: ${tokens} used, ${running} samples under way`
  }
  return null
}
