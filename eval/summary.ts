import type { SampleResult } from './suite.ts'

export interface Skipped {
  scenario: string
  reason: string
}
interface About {
  model: string
  scripted: boolean
  engine: { name: string; version: string }
  k: number
  skipped: Skipped[]
  /** Reason why not all samples were run; null if they were. */
  stopped: string | null
}
export type Summary = ReturnType<typeof summarise>

/** Sums up a run, over its samples and for each scenario. */
export function summarise(results: readonly SampleResult[], about: About) {
  const byName = Object.entries(Object.groupBy(results, ({ scenario }) => scenario)).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const scenarios = byName.map(([name, of = []]) => ofScenario(name, of, about.k))
  const firsts = scenarios.map(({ pass_at_1 }) => pass_at_1)
  const kth = scenarios.flatMap(({ pass_at_k }) => (pass_at_k === null ? [] : [pass_at_k]))
  return {
    ...about,
    samples: results.length,
    passed: results.filter(({ passed }) => passed).length,
    /** Means over scenarios, each with the same weight, and percentile bootstrap intervals over scenarios. */
    pass_at_1: mean(firsts),
    pass_at_1_ci: bootstrapMean(firsts),
    pass_at_k: mean(kth),
    pass_at_k_ci: bootstrapMean(kth),
    totals: totalsOf(results),
    scenarios,
  }
}

function ofScenario(scenario: string, results: readonly SampleResult[], k: number) {
  const samples = results.length
  const passed = results.filter((result) => result.passed).length
  return {
    scenario,
    samples,
    passed,
    pass_at_1: passed / samples,
    /** Wilson's interval over the samples. */
    pass_at_1_ci: wilson(passed, samples),
    /** Null with fewer than k samples. */
    pass_at_k: passAtK(samples, passed, k),
    ...totalsOf(results),
    /** The failures of the first sample that has any. */
    failures: results.find(({ failures }) => failures.length > 0)?.failures ?? [],
  }
}

function totalsOf(results: readonly SampleResult[]) {
  const sum = (pick: (result: SampleResult) => number) => results.reduce((total, result) => total + pick(result), 0)
  const round = (value: number, digits: number) => Number(value.toFixed(digits))
  const costs = sum(({ cost_usd }) => cost_usd ?? 0)
  const hasPrices = results.every(({ cost_usd }) => cost_usd !== null)
  return {
    /** Means over the samples. */
    attempts: round(mean(results.map(({ attempts }) => attempts)) ?? 0, 2),
    duration_s: round(mean(results.map(({ duration_s }) => duration_s)) ?? 0, 1),
    input_tokens: sum(({ input_tokens }) => input_tokens),
    output_tokens: sum(({ output_tokens }) => output_tokens),
    /** US dollars of all samples; null when the price of a model is not known. */
    cost_usd: hasPrices ? round(costs, 6) : null,
  }
}

const percent = (value: number | null): string => (value === null ? '-' : `${(value * 100).toFixed(0)}%`)
const range = (interval: Interval | null): string =>
  interval ? `${percent(interval.low)}-${percent(interval.high)}` : '-'

export function renderTable(summary: Summary): string[] {
  const { k } = summary
  const head = ['scenario', 'passed', 'pass@1', '95% CI', `pass@${k}`, 'attempts', 'tokens in', 'out', 'USD', 's']
  const row = (
    name: string,
    one: Summary | ReturnType<typeof ofScenario>,
    totals: ReturnType<typeof totalsOf>,
  ): string[] => [
    name,
    `${one.passed}/${one.samples}`,
    percent(one.pass_at_1),
    range(one.pass_at_1_ci),
    percent(one.pass_at_k),
    totals.attempts.toFixed(1),
    String(totals.input_tokens),
    String(totals.output_tokens),
    totals.cost_usd === null ? 'unknown' : totals.cost_usd.toFixed(4),
    totals.duration_s.toFixed(1),
  ]
  const rows = summary.scenarios.map((one) => row(one.scenario, one, one))
  const last = row('all', summary, summary.totals)
  const failures = summary.scenarios.flatMap(({ scenario, failures: texts }) =>
    texts.map((text) => `  ${scenario}: ${text}`),
  )
  return [
    ...alignColumns([head, ...rows, last]),
    '',
    `pass@1 of a scenario: Wilson interval over its samples. Means over ${summary.scenarios.length} ` +
      `scenarios: bootstrap over scenarios; pass@${k} ${range(summary.pass_at_k_ci)}.`,
    ...(failures.length > 0 ? ['', 'Not as expected:', ...failures] : []),
    ...(summary.skipped.length > 0
      ? ['', `Skipped (${summary.skipped.length}):`, ...listSkipped(summary.skipped)]
      : []),
    ...(summary.stopped === null ? [] : ['', `Stopped early: ${summary.stopped}. The same command goes on from here.`]),
  ]
}

/** Pads the cells of rows to columns. All columns but the first are right-aligned. */
export function alignColumns(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return rows.map((row) => row.map(pad).join('  '))
}

const listSkipped = (skipped: readonly Skipped[]): string[] =>
  Object.entries(Object.groupBy(skipped, ({ reason }) => reason)).map(
    ([reason, scenarios = []]) => `  ${reason}: ${scenarios.map(({ scenario }) => scenario).join(', ')}`,
  )

/** Lower and upper end of a 95 % confidence interval, from 0 to 1. */
interface Interval {
  low: number
  high: number
}

const Z = 1.959963984540054

/** Returns Wilson's score interval of a proportion; null without trials. */
export function wilson(passed: number, trials: number): Interval | null {
  if (trials === 0) return null
  const rate = passed / trials
  const scale = 1 + Z ** 2 / trials
  const centre = (rate + Z ** 2 / (2 * trials)) / scale
  const half = (Z / scale) * Math.sqrt((rate * (1 - rate)) / trials + Z ** 2 / (4 * trials ** 2))
  return {
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === trials ? 1 : Math.min(1, centre + half),
  }
}

/** Returns the unbiased estimate 1 - C(n-c, k) / C(n, k) that one of `k` samples passes; null with fewer than `k`. */
export function passAtK(samples: number, passed: number, k: number): number | null {
  if (k < 1 || samples < k) return null
  if (samples - passed < k) return 1
  let none = 1
  for (let i = samples - passed + 1; i <= samples; i++) none *= 1 - k / i
  return 1 - none
}

export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

const RESAMPLES = 4_000

/**
 * Returns the percentile bootstrap interval of the mean over scenarios, the same for the same values. Null with fewer
 * than two scenarios, whose spread is unknown.
 */
export function bootstrapMean(values: readonly number[]): Interval | null {
  if (values.length < 2) return null
  const random = seededRandom(0x5eed)
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)] ?? 0
    return sum / values.length
  }).sort((a, b) => a - b)
  const at = (share: number) => means[Math.min(RESAMPLES - 1, Math.floor(share * RESAMPLES))] ?? 0
  return { low: at(0.025), high: at(0.975) }
}

/** Makes a random generator (Mulberry32) that repeats its numbers (0 to below 1) for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
