import type { ModelPrice, ModelPrices } from '../../config/types.ts'
import type { Usage } from './inference.ts'

interface Row extends ModelPrice {
  /** Matches the id of the model without provider, region and publisher. */
  model: RegExp
  /** The prices of requests whose input has more than `tokens` tokens. */
  above?: ModelPrice & { tokens: number }
}

const row = (model: RegExp, input: number, cachedInput: number, output: number, more: Partial<Row> = {}): Row => ({
  model,
  input,
  cached_input: cachedInput,
  output,
  ...more,
})
/** Makes a row for a vendor that charges a quarter more for input written to its cache. */
const caching = (model: RegExp, input: number, cachedInput: number, output: number): Row =>
  row(model, input, cachedInput, output, { cache_write: input * 1.25 })
/** Makes a row for OpenAI models that charge for writing to the cache, and more for long input. */
const gpt = (model: RegExp, input: number, cachedInput: number, output: number): Row =>
  tiered(caching(model, input, cachedInput, output), 272_000, output * 1.5)
/** Adds the prices beyond so many tokens: twice the price for input, and a separate one for output. */
const tiered = (base: Row, tokens: number, output: number): Row => ({
  ...base,
  above: { ...scaled({ ...base, cached_input: base.cached_input ?? base.input }, 2), tokens, output },
})

/**
 * List prices in US dollars per million tokens, without discounts; the first matching row counts. Last compared with
 * the prices that the providers publish in November 2026.
 */
const ROWS: readonly Row[] = [
  caching(/^claude-(fable|mythos)-5-1/, 10, 0.25, 50),
  caching(/^claude-(fable|mythos)-5/, 10, 1, 50),
  caching(/^claude-opus-5-5/, 4, 0.2, 20),
  caching(/^claude-opus-(5|4-[5-8])/, 5, 0.5, 25),
  caching(/^claude-opus-4/, 15, 1.5, 75),
  caching(/^claude-sonnet-5-5/, 2, 0.1, 10),
  caching(/^claude-sonnet-5/, 2, 0.2, 10),
  tiered(caching(/^claude-sonnet-4-5/, 3, 0.3, 15), 200_000, 22.5),
  caching(/^claude-(sonnet-4|3-[57]-sonnet)/, 3, 0.3, 15),
  {
    ...caching(/^claude-haiku-5-5/, 0.1, 0.01, 0.5),
    above: { tokens: 100_000, input: 0.5, cached_input: 0.05, cache_write: 0.625, output: 2.5 },
  },
  caching(/^claude-haiku-4-5/, 1, 0.1, 5),
  caching(/^claude-3-5-haiku/, 0.8, 0.08, 4),
  gpt(/^gpt-6\.1-sol(-\d{4}|$)/, 2, 0.1, 10),
  gpt(/^gpt-6-sol(-\d{4}|$)/, 2, 0.2, 10),
  gpt(/^gpt-6-luna(-\d{4}|$)/, 0.1, 0.01, 0.5),
  gpt(/^gpt-6-astra(-\d{4}|$)/, 10, 1, 50),
  gpt(/^gpt-5\.6(-sol)?(-\d{4}|$)/, 4, 0.4, 20),
  gpt(/^gpt-5\.6-luna(-\d{4}|$)/, 0.2, 0.02, 1.2),
  gpt(/^gpt-5\.6-terra(-\d{4}|$)/, 2, 0.2, 12),
  tiered(row(/^gpt-5\.[45]-pro(-\d{4}|$)/, 30, 30, 180), 272_000, 270),
  row(/^gpt-5\.2-pro(-\d{4}|$)/, 21, 21, 168),
  row(/^gpt-5-pro(-\d{4}|$)/, 15, 15, 120),
  tiered(row(/^gpt-5\.5(-\d{4}|$)/, 5, 0.5, 30), 272_000, 45),
  row(/^gpt-5\.4-mini/, 0.75, 0.075, 4.5),
  row(/^gpt-5\.4-nano/, 0.2, 0.02, 1.25),
  tiered(row(/^gpt-5\.4(-\d{4}|$)/, 2.5, 0.25, 15), 272_000, 22.5),
  row(/^gpt-5\.(2|3)(-codex|-chat-latest)?(-\d{4}|$)/, 1.75, 0.175, 14),
  row(/^gpt-5(-mini|\.1-codex-mini)(-\d{4}|$)/, 0.25, 0.025, 2),
  row(/^gpt-5-nano(-\d{4}|$)/, 0.05, 0.005, 0.4),
  row(/^gpt-5(\.1)?(-codex|-codex-max|-chat|-chat-latest)?(-\d{4}|$)/, 1.25, 0.125, 10),
  row(/^gpt-4\.1(-\d{4}|$)/, 2, 0.5, 8),
  row(/^gpt-4o-mini(-\d{4}|$)/, 0.15, 0.075, 0.6),
  row(/^gpt-4o-2024-05-13$/, 5, 5, 15),
  row(/^gpt-4o(-\d{4}|$)/, 2.5, 1.25, 10),
  tiered(row(/^gemini-3\.1-pro/, 2, 0.2, 12), 200_000, 18),
  tiered(row(/^gemini-2\.5-pro(-\d|$)/, 1.25, 0.125, 10), 200_000, 15),
  row(/^gemini-2\.5-flash(-\d|$)/, 0.3, 0.03, 2.5),
  row(/^gemini-2\.5-flash-lite(-\d|$)/, 0.1, 0.01, 0.4),
  row(/^gemini-3-flash-preview$/, 0.5, 0.05, 3),
  row(/^gemini-3\.1-flash-lite(-preview|-\d|$)/, 0.25, 0.025, 1.5),
  row(/^gemini-3\.5-flash-lite(-\d|$)/, 0.3, 0.03, 2.5),
  row(/^gemini-3\.5-flash(-\d|$)/, 1.5, 0.15, 9),
  row(/^gemini-3\.[678]-flash(-\d|$)/, 0.75, 0.075, 3.75),
  tiered(row(/^grok-4\.[56]/, 2, 0.5, 6), 200_000, 12),
]

/** Providers that charge the list price of a model's vendor. */
const AT_LIST_PRICE = /^(openai|azure|anthropic|gemini|vertex_ai(_beta)?|bedrock(_converse)?|xai|)$/
/** Providers that run on the operator's own machines and do not charge by token. */
const FREE = ['ollama', 'ollama_chat']

/** Returns the price of one call in US dollars; null when the price of the model is unknown. */
export type Pricing = (model: string, usage: Usage) => number | null

/**
 * Makes the pricing from the built-in table.
 * @param own prices by model pattern, which override those of the table
 */
export function createPricing(own: ModelPrices): Pricing {
  const patterns = Object.entries(own).map(([pattern, price]) => ({ matches: wildcard(pattern), price }))
  return (model, usage) => {
    const ownPrice = patterns.find(({ matches }) => matches.test(model))?.price
    const price = ownPrice ?? listPrice(model, usage.input_tokens)
    return price ? costOf(price, usage) : null
  }
}

/** True if the price of a model is known, from the given prices or from the built-in table. */
export const isPriced = (model: string, own: ModelPrices): boolean =>
  createPricing(own)(model, { input_tokens: 0, cached_tokens: 0, output_tokens: 0 }) !== null

const wildcard = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  )

function listPrice(model: string, inputTokens: number): ModelPrice | null {
  const slash = model.indexOf('/')
  const provider = slash === -1 ? '' : model.slice(0, slash)
  if (FREE.includes(provider)) return { input: 0, output: 0 }
  if (!AT_LIST_PRICE.test(provider)) return null
  const id = model.slice(slash + 1)
  const match = ROWS.find((each) => each.model.test(bareId(id)))
  if (!match) return null
  const price = match.above && inputTokens > match.above.tokens ? match.above : match
  return OF_A_GEOGRAPHY.test(id) && !SAME_EVERYWHERE.test(bareId(id)) ? scaled(price, PREMIUM) : price
}

/** Bedrock charges a tenth more for requests that stay in a geography, except for older models. */
const PREMIUM = 1.1
const OF_A_GEOGRAPHY = /^(us|eu|apac|jp|au)\./
const SAME_EVERYWHERE = /^claude-(3-|(opus|sonnet)-4(-1)?-\d{8})/

function scaled({ input, cached_input, cache_write, output }: ModelPrice, factor: number): ModelPrice {
  return {
    input: input * factor,
    output: output * factor,
    ...(cached_input !== undefined && { cached_input: cached_input * factor }),
    ...(cache_write !== undefined && { cache_write: cache_write * factor }),
  }
}

/** Returns the vendor's id: `claude-…` for both `eu.anthropic.claude-…` and `publishers/…/claude-…`. */
const bareId = (id: string): string =>
  id.replace(/^.*\//, '').replace(/^([a-z]+\.)?(anthropic|openai|google|xai)\./, '')

function costOf(
  price: ModelPrice,
  { input_tokens, cached_tokens, cache_write_tokens = 0, output_tokens }: Usage,
): number {
  const fresh = Math.max(input_tokens - cached_tokens - cache_write_tokens, 0)
  const input =
    fresh * price.input +
    cached_tokens * (price.cached_input ?? price.input) +
    cache_write_tokens * (price.cache_write ?? price.input)
  return (input + output_tokens * price.output) / 1_000_000
}
