import { describe, expect, it } from 'vitest'
import { settleCosts } from '../../src/reports/settle-generate.ts'

type Costs = Parameters<typeof settleCosts>[0]
type Row = Costs['breakdown'][number]

const row = (fixed_monthly_cost: number, changes: Partial<Row> = {}): Row => ({
  resource_type: 'a',
  pricing_model: 'fixed',
  fixed_monthly_cost,
  notes: '',
  ...changes,
})
const costs = (breakdown: Row[], changes: Partial<Costs> = {}): Costs => ({
  currency: 'USD',
  introduction_paragraph: 'Small.',
  breakdown,
  ...changes,
})

describe('settleCosts', () => {
  it('adds up the fixed amounts', () => {
    const given = costs([row(10.1), row(20.2), row(0, { pricing_model: 'usage_based' })])
    expect(settleCosts(given)).toEqual({ ...given, total_fixed_monthly_cost: 30.3 })
    expect(settleCosts(costs([row(0.1), row(0.2)])).total_fixed_monthly_cost).toBe(0.3)
    expect(settleCosts(costs([]))).toEqual({ ...costs([]), total_fixed_monthly_cost: 0 })
  })

  it('moves an amount that is not fixed into the notes of its row', () => {
    const settled = settleCosts(costs([row(10), row(5, { pricing_model: 'usage_based', notes: 'At 1 TB.' })]))
    expect(settled.total_fixed_monthly_cost).toBe(10)
    expect(settled.breakdown[1]).toMatchObject({
      fixed_monthly_cost: 0,
      notes: 'At 1 TB. USD 5.00 is not fixed and is not part of the total.',
    })
    expect(settled.breakdown.reduce((sum, { fixed_monthly_cost }) => sum + fixed_monthly_cost, 0)).toBe(10)
  })

  it('says what the change saves, for all and for each, and what is not known', () => {
    const settled = settleCosts(
      costs([
        row(170, { resource_type: 'nodes', fixed_monthly_cost_before: 800, notes: 'Two of m5.large.' }),
        row(0, { resource_type: 'replica', fixed_monthly_cost_before: 70.5 }),
        row(0, { resource_type: 'gateway', fixed_monthly_cost_before: null }),
        row(0, { resource_type: 'logs', pricing_model: 'usage_based', fixed_monthly_cost_before: null }),
      ]),
    )
    expect(settled.introduction_paragraph).toBe(
      'Fixed cost a month: USD 870.50 before, USD 170.00 after, USD 700.50 less. What depends on use is in neither ' +
        'amount. What gateway costs today is not known. Small.',
    )
    expect(settled.breakdown.map(({ notes }) => notes)).toEqual([
      'Two of m5.large. USD 800.00 before, USD 170.00 after, USD 630.00 less.',
      'USD 70.50 before, USD 0.00 after, USD 70.50 less.',
      'What it costs today is not known.',
      '',
    ])
    expect(settled.breakdown.every((one) => !('fixed_monthly_cost_before' in one))).toBe(true)
  })

  it('speaks of no savings where nothing had a price, or nobody said what it was', () => {
    const created = settleCosts(costs([row(30, { fixed_monthly_cost_before: 0 })]))
    expect([created.introduction_paragraph, created.breakdown[0]?.notes]).toEqual(['Small.', ''])
    const raised = settleCosts(costs([row(30, { fixed_monthly_cost_before: 10 })]))
    expect(raised.introduction_paragraph).toContain('USD 10.00 before, USD 30.00 after, USD 20.00 more.')
  })

  it.each([
    ['EUR 20 in Frankfurt', 'EUR'],
    ['about 20 EUR', 'EUR'],
    ['£3.50 an hour', 'GBP'],
    ['20 € a month', 'EUR'],
  ])('tells of another currency in "%s"', (notes, other) => {
    expect(settleCosts(costs([row(20, { notes })])).introduction_paragraph).toContain(
      `Notes name amounts in ${other}; every amount of the table counts as USD, none was converted.`,
    )
  })

  it('finds no other currency where none is', () => {
    const given = costs([row(20, { notes: 'USD 20 on 2 EUROPE nodes, t3.small' })])
    expect(settleCosts(given)).toEqual({ ...given, total_fixed_monthly_cost: 20 })
  })
})
