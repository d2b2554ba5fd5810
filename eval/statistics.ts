/** Lower and upper end of a 95 % confidence interval, from 0 to 1. */
export interface Interval {
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
