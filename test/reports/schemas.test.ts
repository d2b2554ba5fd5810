import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { Severity } from '../../src/base/vocabulary.ts'
import { complianceVerdict, emptyCompliance } from '../../src/reports/compliance.ts'
import { type ComplianceFindings, complianceFindings, reportSchemas } from '../../src/reports/schemas.ts'

const generate = (more: Record<string, unknown> = {}) => ({
  summary: { create: 1, update: 0, delete: 0, recreate: 0 },
  detailed_changes: [],
  potential_impact: { banner: { level: 'low', title: 'Little', description: '' }, summary: '', bullet_points: [] },
  estimated_costs: { currency: 'EUR', total_fixed_monthly_cost: 1, introduction_paragraph: '', breakdown: [] },
  ...more,
})

describe('report documents', () => {
  it('come out of full arguments unchanged', () => {
    const document = generate({
      detailed_changes: [{ name: 'terraform_data.a', action: 'create', notes: 'n', summary: 's', details: 'd' }],
    })
    expect(v.parse(reportSchemas.generate, document)).toEqual(document)
  })

  it('hold every key, with empty lists for those that are absent or null', () => {
    const parsed = v.parse(reportSchemas.generate, {
      summary: {},
      detailed_changes: null,
      potential_impact: { banner: { level: 'High', title: 'Data is lost' } },
      estimated_costs: {},
    })
    expect(parsed).toEqual({
      summary: { create: 0, update: 0, delete: 0, recreate: 0 },
      detailed_changes: [],
      potential_impact: {
        banner: { level: 'high', title: 'Data is lost', description: '' },
        summary: '',
        bullet_points: [],
      },
      estimated_costs: { currency: 'USD', total_fixed_monthly_cost: 0, introduction_paragraph: '', breakdown: [] },
    })
    expect(
      v.parse(reportSchemas.drift, {
        summary: 'In sync',
        status: 'succeeded',
        remediated_resources: [{ resource_address: 'a', changes: null }],
      }),
    ).toEqual({
      summary: 'In sync',
      status: 'Succeeded',
      remediated_resources: [{ file_path: '', resource_address: 'a', changes: [] }],
      unreconciled_drift: [],
      whitelisted_exceptions: [],
    })
    expect(v.parse(reportSchemas.apply, { summary: {}, status: 'SUCCESS', execution_summary: 'ok' })).toMatchObject({
      status: 'Success',
      resource_changes: [],
      recommendations: [],
    })
    expect(v.parse(reportSchemas.import, { summary: {}, status: 'Partial', execution_summary: 'some' })).toMatchObject({
      imported_resources: [],
      excluded_resources: [],
      recommendations: [],
      state_alignment: '',
    })
  })

  it.each([
    [12, 12],
    ['12.50', 12.5],
    ['$1,234.50', 1234.5],
    ['€ 1,234,567', 1_234_567],
    ['-3', -3],
    [null, 0],
    [undefined, 0],
  ])('take the amount %j as %d', (given, expected) => {
    const parsed = v.parse(reportSchemas.generate, generate({ estimated_costs: { total_fixed_monthly_cost: given } }))
    expect(parsed.estimated_costs.total_fixed_monthly_cost).toBe(expected)
  })

  it.each(['about 10', '10-20', '1,5', '', {}, true])('refuse the amount %j', (given) => {
    expect(
      v.safeParse(reportSchemas.generate, generate({ estimated_costs: { total_fixed_monthly_cost: given } })).success,
    ).toBe(false)
  })

  it.each([
    ['3', true],
    [3, true],
    [1.5, false],
    [-1, false],
  ])('take the count %j: %s', (create, accepted) => {
    expect(v.safeParse(reportSchemas.generate, generate({ summary: { create } })).success).toBe(accepted)
  })

  it.each([
    [' eur ', 'EUR'],
    ['', 'USD'],
    [null, 'USD'],
  ])('take the currency %j as %s', (currency, expected) => {
    expect(v.parse(reportSchemas.generate, generate({ estimated_costs: { currency } })).estimated_costs.currency).toBe(
      expected,
    )
  })

  it.each(['euros', '€', 'US$'])('refuse the currency %j', (currency) => {
    expect(v.safeParse(reportSchemas.generate, generate({ estimated_costs: { currency } })).success).toBe(false)
  })

  it('take a pricing model in any common spelling', () => {
    const breakdown = [{ resource_type: 'queue', pricing_model: 'Usage-Based', fixed_monthly_cost: null }]
    expect(
      v.parse(reportSchemas.generate, generate({ estimated_costs: { breakdown } })).estimated_costs.breakdown,
    ).toEqual([{ resource_type: 'queue', pricing_model: 'usage_based', fixed_monthly_cost: 0, notes: '' }])
  })
})

describe('the compliance verdict', () => {
  const findings = (...severities: Severity[]): ComplianceFindings => ({
    violations: severities.map((severity) => ({
      rule_id: 'r',
      severity,
      resource: null,
      message: 'm',
      suggested_fix: null,
    })),
    summary: 's',
    checked_rules: ['r'],
  })

  it.each<[Severity[], boolean]>([
    [[], true],
    [['info', 'warning'], true],
    [['info', 'error'], false],
    [['critical'], false],
  ])('for findings of %j is %s', (severities, passed) => {
    expect(complianceVerdict(findings(...severities))).toEqual({ passed, ...findings(...severities) })
  })

  it('is not for the model to give', () => {
    const said = v.parse(complianceFindings, {
      passed: true,
      violations: [{ rule_id: 'r', severity: 'Critical', message: 'm' }],
    })
    expect(complianceVerdict(said)).toEqual({
      passed: false,
      violations: [{ rule_id: 'r', severity: 'critical', resource: null, message: 'm', suggested_fix: null }],
      summary: '',
      checked_rules: [],
    })
  })

  it('passes without an audit', () => {
    expect(emptyCompliance()).toEqual({ passed: true, violations: [], summary: '', checked_rules: [] })
  })
})
