import { describe, expect, it } from 'vitest'
import { bootstrapMean, mean, passAtK, wilson } from '../../eval/summary.ts'

/** Returns the share of the k-subsets of n samples that hold one of the c passing ones, by enumeration. */
function counted(n: number, c: number, k: number): number {
  let all = 0
  let hit = 0
  for (let mask = 0; mask < 1 << n; mask++) {
    const members = Array.from({ length: n }, (_, i) => (mask >> i) & 1)
    if (members.filter(Boolean).length !== k) continue
    all++
    if (members.slice(0, c).some(Boolean)) hit++
  }
  return hit / all
}

describe('pass@k', () => {
  it('is the share of all ways to draw k samples that hold a passing one', () => {
    for (let n = 1; n <= 8; n++)
      for (let c = 0; c <= n; c++)
        for (let k = 1; k <= n; k++) expect(passAtK(n, c, k)).toBeCloseTo(counted(n, c, k), 10)
  })
  it('is not known with fewer samples than k', () => {
    expect(passAtK(2, 2, 3)).toBeNull()
    expect(passAtK(0, 0, 1)).toBeNull()
  })
  it('with k = 1 is the share of passing samples', () => expect(passAtK(200, 37, 1)).toBeCloseTo(37 / 200, 12))
})

describe('the interval of Wilson', () => {
  // Values of the published formula for 95 %.
  it.each([
    [0, 10, 0, 0.2775],
    [1, 10, 0.0179, 0.4042],
    [5, 10, 0.2366, 0.7634],
    [10, 10, 0.7225, 1],
    [1, 1, 0.2065, 1],
    [81, 263, 0.2553, 0.3662],
  ])('of %i in %i is %f to %f', (passed, trials, low, high) => {
    const interval = wilson(passed, trials)
    expect(interval?.low).toBeCloseTo(low, 3)
    expect(interval?.high).toBeCloseTo(high, 3)
  })
  it('is not known without trials', () => expect(wilson(0, 0)).toBeNull())
})

describe('the bootstrap of a mean', () => {
  it('is the same for the same values and holds their mean', () => {
    const values = [0, 0.25, 0.5, 1, 1, 1, 0.75, 0]
    const interval = bootstrapMean(values)
    expect(bootstrapMean(values)).toEqual(interval)
    const middle = mean(values) ?? Number.NaN
    expect(interval?.low).toBeLessThan(middle)
    expect(interval?.high).toBeGreaterThan(middle)
  })
  it('is narrower with more scenarios', () => {
    const width = (count: number) => {
      const interval = bootstrapMean(Array.from({ length: count }, (_, i) => i % 2))
      return (interval?.high ?? 0) - (interval?.low ?? 0)
    }
    expect(width(100)).toBeLessThan(width(10))
  })
  it('is a point when all scenarios agree, and unknown for one', () => {
    expect(bootstrapMean([1, 1, 1])).toEqual({ low: 1, high: 1 })
    expect(bootstrapMean([0.5])).toBeNull()
  })
})
