import type { AgentEvent } from '../../src/agent/types.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { Pricing } from '../../src/llm/prices.ts'
import type { Usage } from '../../src/llm/types.ts'
import type { RoundUsage } from '../../src/sessions/types.ts'

/** What is stored with a round: the published totals, and each chain's share. Overlaps are counted once, for the engine. */
export interface MeteredUsage extends RoundUsage {
  chains: Partial<Record<ChainName, ChainUsage>>
}
export interface ChainUsage {
  calls: number
  tool_calls: number
  input_tokens: number
  output_tokens: number
  /** Sum of the calls' durations. */
  model_s: number
}

export interface Meter {
  observe(event: AgentEvent<ChainName>): void
  /** What a web search used; it belongs to no chain. */
  search(used: { model: string; usage: Usage }): void
  /** An engine job that was waited for, told when it ended. */
  engine(duration_ms: number): void
  attempt(): void
  usage(): MeteredUsage
}

type Interval = [start: number, end: number]

/**
 * @param options.now milliseconds of a monotonic clock
 * @param options.price without it no price is known
 */
export function createMeter(options: { now?: () => number; price?: Pricing } = {}): Meter {
  const { now = () => performance.now(), price = () => null } = options
  const engine: Interval[] = []
  const model: Interval[] = []
  const chains: Partial<Record<ChainName, ChainUsage>> = {}
  const tokens = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 }
  let validation_attempts = 0
  /** Dollars; null from the first call on whose price is not known. */
  let cost: number | null = 0

  const chainOf = (name: ChainName): ChainUsage => {
    const known = chains[name]
    if (known) return known
    const fresh: ChainUsage = { calls: 0, tool_calls: 0, input_tokens: 0, output_tokens: 0, model_s: 0 }
    chains[name] = fresh
    return fresh
  }

  const observe = (event: AgentEvent<ChainName>) => {
    const chain = chainOf(event.chain)
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
    count(event)
  }

  const count = ({ model: name, usage }: { model: string; usage: Usage }) => {
    tokens.input_tokens += usage.input_tokens
    tokens.cached_tokens += usage.cached_tokens
    tokens.output_tokens += usage.output_tokens
    const dollars = price(name, usage)
    cost = cost === null || dollars === null ? null : cost + dollars
  }

  return {
    observe,
    search: count,
    engine: (duration_ms) => {
      const end = now()
      engine.push([end - duration_ms, end])
    },
    attempt: () => {
      validation_attempts++
    },
    usage: () => {
      const engine_ms = covered(engine)
      const model_ms = covered([...engine, ...model]) - engine_ms
      return {
        engine_s: seconds(engine_ms),
        model_s: seconds(model_ms),
        ...tokens,
        cost_usd: cost === null ? null : Math.round(cost * 1e6) / 1e6,
        validation_attempts,
        chains: structuredClone(chains),
      }
    },
  }
}

const seconds = (ms: number) => Math.round(ms) / 1000

/** Length of the union of the intervals. */
function covered(intervals: readonly Interval[]): number {
  let total = 0
  let reached = Number.NEGATIVE_INFINITY
  for (const [start, end] of intervals.toSorted((a, b) => a[0] - b[0])) {
    if (end <= reached) continue
    total += end - Math.max(start, reached)
    reached = end
  }
  return total
}
