import { describe, expect, test } from 'vitest'
import { exponentOf, growthTable, type Point } from '../../../bench/lib/growth.ts'
import { formatSection } from '../../../bench/lib/report.ts'

const pointsOf = (cost: (size: number) => number, sizes = [10, 1_000, 10_000]): Point[] =>
  sizes.map((size) => ({ size, cost: cost(size) }))

describe('exponentOf', () => {
  test.each([
    ['constant', () => 7, 0],
    ['linear', (n: number) => 3 * n, 1],
    ['square', (n: number) => 0.5 * n ** 2, 2],
    ['root', (n: number) => Math.sqrt(n), 0.5],
    ['falling', (n: number) => 100 / n, -1],
  ])('finds the exponent of a %s cost', (_, cost, exponent) => {
    expect(exponentOf(pointsOf(cost))).toBeCloseTo(exponent, 9)
  })

  test('fits a line through points that lie on none', () => {
    // Logarithms to the base 10: (1, 0), (2, 2), (3, 1). The slope of least squares is 1/2.
    const points = [
      { size: 10, cost: 1 },
      { size: 100, cost: 100 },
      { size: 1_000, cost: 10 },
    ]
    expect(exponentOf(points)).toBeCloseTo(0.5, 9)
    expect(exponentOf([...points].reverse())).toBeCloseTo(0.5, 9)
  })

  test('leaves out what has no logarithm, and needs two sizes', () => {
    expect(exponentOf([{ size: 0, cost: 4 }, { size: 5, cost: 0 }, ...pointsOf((n) => n)])).toBeCloseTo(1, 9)
    expect(exponentOf([])).toBeNaN()
    expect(exponentOf(pointsOf((n) => n, [10]))).toBeNaN()
    expect(exponentOf([...pointsOf((n) => n, [10]), { size: 10, cost: 3 }])).toBeNaN()
  })
})

describe('growthTable', () => {
  const linear = pointsOf((n) => n / 10)

  test('has a column for each size, the exponent and the verdict', () => {
    const table = growthTable('Growth', [
      { name: 'read', unit: 'ms', points: linear, aim: 1_000, aim_exponent: 1.1 },
      { name: 'write', unit: 'ms', points: linear.slice(0, 2), aim: 99 },
      { name: 'size', unit: 'kB', points: linear, aim: 1, aim_size: 20 },
    ])
    expect(table.columns).toEqual(['case', 'unit', '10', '1,000', '10,000', 'exponent', 'aim', 'result'])
    expect(table.rows).toEqual([
      ['read', 'ms', '1', '100', '1,000', '1.00', '<= 1000 at 10,000, exponent <= 1.1', 'met'],
      ['write', 'ms', '1', '100', '-', '1.00', '<= 99 at 1,000', 'missed'],
      ['size', 'kB', '1', '100', '1,000', '1.00', '<= 1 at 20', ''],
    ])
  })

  test('misses an aim of the exponent alone', () => {
    const [row] = growthTable('', [{ name: '', unit: '', points: linear, aim: 2_000, aim_exponent: 0.2 }]).rows
    expect(row?.at(-1)).toBe('missed')
  })

  test('is printed by a section without figures of its own', () => {
    const text = formatSection({ title: 'Part', figures: [], tables: [growthTable('Growth', [])], notes: ['note'] })
    expect(text).toContain('  Growth\n')
  })
})
