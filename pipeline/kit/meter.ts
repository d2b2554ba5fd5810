import type { AgentEvent } from '../../src/agent/agent-request.ts'
import { PlatformError } from '../../src/base/errors.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { Usage } from '../../src/llm/inference.ts'
import type { Pricing } from '../../src/llm/prices.ts'

interface ChainUsage {
  calls: number
  tool_calls: number
  input_tokens: number
  output_tokens: number
  /** Sum of the calls' durations. */
  model_s: number
}

export type Meter = ReturnType<typeof createMeter>

type Interval = [start: number, end: number]

/** Creates the meter of one run. `now` is in milliseconds; `price` is in US dollars, or the cost is unknown. */
export function createMeter(options: { now?: () => number; price?: Pricing } = {}) {
  const { now = () => performance.now(), price = () => null } = options
  const engine: Interval[] = []
  const model: Interval[] = []
  const chains: Partial<Record<ChainName, ChainUsage>> = {}
  const totals = createTotals(price)
  let validationAttempts = 0

  const observe = (event: AgentEvent<ChainName>) => {
    const { chain: name } = event
    chains[name] ??= { calls: 0, tool_calls: 0, input_tokens: 0, output_tokens: 0, model_s: 0 }
    const chain = chains[name]
    if (event.type === 'tool') {
      chain.tool_calls++
      return
    }
    const end = now()
    model.push([end - event.durationMs, end])
    chain.calls++
    chain.model_s = seconds(chain.model_s * 1000 + event.durationMs)
    chain.input_tokens += event.usage.input_tokens
    chain.output_tokens += event.usage.output_tokens
    totals.add(event)
  }

  return {
    observe,
    /** Adds the tokens of a web search, which belongs to no chain, to the totals. */
    recordSearch: totals.add,
    /** Adds the duration of an engine job that the round waited for. Must be called when the job ends. */
    recordEngineTime: (durationMs: number) => {
      const end = now()
      engine.push([end - durationMs, end])
    },
    countAttempt: () => {
      validationAttempts++
    },
    mark: totals.mark,
    /** Returns the usage to store. Overlapping time of engine job and model call counts as engine time. */
    usage: () => {
      const engineMs = measureCovered(engine)
      const modelMs = measureCovered([...engine, ...model]) - engineMs
      return {
        engine_s: seconds(engineMs),
        model_s: seconds(modelMs),
        ...totals.read(),
        validation_attempts: validationAttempts,
        chains: structuredClone(chains),
      }
    },
  }
}

/** Creates the sums of tokens and cost over all calls, in stored form. */
function createTotals(price: Pricing) {
  const tokens = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 }
  /** US dollars of the calls whose price is known. */
  let cost = 0
  let unpriced = 0
  const read = (before = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost: 0, unpriced: 0 }) => ({
    input_tokens: tokens.input_tokens - before.input_tokens,
    cached_tokens: tokens.cached_tokens - before.cached_tokens,
    output_tokens: tokens.output_tokens - before.output_tokens,
    // Null once a call had no known price.
    cost_usd: unpriced > before.unpriced ? null : Math.round((cost - before.cost) * 1e6) / 1e6,
  })
  return {
    add: ({ model, usage }: { model: string; usage: Usage }) => {
      tokens.input_tokens += usage.input_tokens
      tokens.cached_tokens += usage.cached_tokens
      tokens.output_tokens += usage.output_tokens
      const dollars = price(model, usage)
      if (dollars === null) unpriced++
      else cost += dollars
    },
    read,
    /** Starts a count of model usage; the returned function reads the usage since then. */
    mark: () => {
      const before = { ...tokens, cost, unpriced }
      return () => read(before)
    },
  }
}

const seconds = (ms: number) => Math.round(ms) / 1000

/** Returns the length of the time that at least one of the intervals covers. */
function measureCovered(intervals: readonly Interval[]): number {
  let total = 0
  let reached = Number.NEGATIVE_INFINITY
  for (const [start, end] of intervals.toSorted((a, b) => a[0] - b[0])) {
    if (end <= reached) continue
    total += end - Math.max(start, reached)
    reached = end
  }
  return total
}

/** The tokens that a session may still spend on models. */
export type TokenBudget = ReturnType<typeof createTokenBudget>

/**
 * Creates the token budget of a session.
 * @param limit tokens that all rounds of the session may use together
 * @param before tokens that earlier rounds have used
 * @param onSpend gets the tokens used so far after each call
 */
export function createTokenBudget(limit: number, before: number, onSpend: (used: number) => void = () => {}) {
  let used = before
  return {
    /** Throws `PlatformError` `TokenBudgetExceeded` when nothing is left. */
    check: () => {
      if (used < limit) return
      throw new PlatformError(
        'TokenBudgetExceeded',
        429,
        `the session has used ${used} tokens, its limit is ${limit} (llm.max_session_tokens).`,
      )
    },
    spend: ({ input_tokens, output_tokens }: Usage) => {
      used += input_tokens + output_tokens
      onSpend(used)
    },
  }
}
