import type { Table } from './report.ts'

/** What a case costs at a size: `cost` in any unit, the same for all points of the case. */
export interface Point {
  size: number
  cost: number
}

/** One line of a growth table. */
export interface Growth {
  name: string
  unit: string
  /** In any order; several of the same size count each. */
  points: readonly Point[]
  /** Most that the case may cost at the largest size, or at `aim_size`. */
  aim?: number
  /** Default: the largest size. Without a point of this size the aim is not checked. */
  aim_size?: number
  /** Greatest exponent of growth: 0 for a cost that stays the same, 1 for one that grows as its work. */
  aim_exponent?: number
}

/**
 * Fits cost = c · size^exponent by least squares over the logarithms of both.
 * @param points costs and sizes; those that are not above 0 have no logarithm and are left out
 * @returns the exponent; NaN with points of fewer than two sizes
 */
export function exponentOf(points: readonly Point[]): number {
  const logs = points
    .filter(({ size, cost }) => size > 0 && cost > 0 && Number.isFinite(size) && Number.isFinite(cost))
    .map(({ size, cost }) => ({ x: Math.log(size), y: Math.log(cost) }))
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(logs.map(({ x }) => x)), mean(logs.map(({ y }) => y))]
  const sum = (of: (log: { x: number; y: number }) => number) => logs.reduce((total, log) => total + of(log), 0)
  if (new Set(logs.map(({ x }) => x)).size < 2) return Number.NaN
  return sum(({ x, y }) => (x - meanX) * (y - meanY)) / sum(({ x }) => (x - meanX) ** 2)
}

/** Makes the table of cases over sizes: a column for each size, the exponent of growth, and what the aims say. */
export function growthTable(title: string, cases: readonly Growth[]): Table {
  const sizes = [...new Set(cases.flatMap(({ points }) => points.map(({ size }) => size)))].sort((a, b) => a - b)
  const columns = ['case', 'unit', ...sizes.map((size) => size.toLocaleString('en')), 'exponent', 'aim', 'result']
  const rows = cases.map((growth) => [
    growth.name,
    growth.unit,
    ...sizes.map((size) => format(costAt(growth, size))),
    format(exponentOf(growth.points), 2),
    aimText(growth),
    judge(growth),
  ])
  return { title, columns, rows }
}

/** The mean of the points of a size; NaN without one. */
function costAt({ points }: Growth, size: number): number {
  const costs = points.filter((point) => point.size === size).map(({ cost }) => cost)
  return costs.reduce((sum, cost) => sum + cost, 0) / costs.length
}

const aimSizeOf = ({ points, aim_size }: Growth): number => aim_size ?? Math.max(...points.map(({ size }) => size))

function aimText(growth: Growth): string {
  const { aim, aim_exponent } = growth
  const texts = [
    aim === undefined ? '' : `<= ${aim} at ${aimSizeOf(growth).toLocaleString('en')}`,
    aim_exponent === undefined ? '' : `exponent <= ${aim_exponent}`,
  ]
  return texts.filter(Boolean).join(', ')
}

/** `met`, `missed`, or empty where no aim can be checked. A missed aim fails nothing. */
function judge(growth: Growth): string {
  const cost = costAt(growth, aimSizeOf(growth))
  const checks = [
    [cost, growth.aim],
    [exponentOf(growth.points), growth.aim_exponent],
  ].flatMap(([value = Number.NaN, aim]) => (aim === undefined || Number.isNaN(value) ? [] : [value <= aim]))
  return checks.length === 0 ? '' : checks.every(Boolean) ? 'met' : 'missed'
}

/** Three significant digits below 100, no decimals above; a dash where there is no figure. */
function format(value: number, decimals?: number): string {
  if (Number.isNaN(value)) return '-'
  if (decimals !== undefined) return value.toFixed(decimals)
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}
