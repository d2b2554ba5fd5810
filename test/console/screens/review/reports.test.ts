import { describe, expect, it } from 'vitest'
import { readChange } from '../../../../console/screens/review/code/changes.ts'
import { findBlock, nameOfRule, readCompliance } from '../../../../console/screens/review/report/compliance.ts'
import {
  addressIn,
  formatAmount,
  readGenerateReport,
} from '../../../../console/screens/review/report/generate-report.ts'

describe('readGenerateReport', () => {
  it('reads what code counted and which entries are of code', () => {
    const report = readGenerateReport({
      summary: { create: 2, update: 'many', delete: 1, recreate: null },
      detailed_changes: [{ name: 'aws_sqs_queue.a', action: 'delete', summary: 's', notes: '', details: '' }],
      potential_impact: {
        banner: { level: 'medium', title: 'T', description: 'D' },
        summary: 'S',
        bullet_points: [
          { title: 'Outside the targets', description: 'Lead:\n- create a.b\n- delete c.d' },
          { title: 'Risk', description: 'First\n- a list\nthat goes on' },
        ],
      },
      estimated_costs: { currency: 'EUR', total_fixed_monthly_cost: 12.5, breakdown: [{ resource_type: 'x' }] },
    })
    expect(report?.counts).toEqual({ create: 2, update: 0, delete: 1, recreate: 0 })
    expect(report?.points).toEqual([
      { title: 'Outside the targets', lead: 'Lead:', items: ['create a.b', 'delete c.d'], by: 'code' },
      { title: 'Risk', lead: 'First\n- a list\nthat goes on', items: [], by: 'model' },
    ])
    expect(report?.costs).toMatchObject({ total: 12.5, rows: [{ type: 'x', pricing: 'usage_based', monthly: 0 }] })
  })

  it('takes an unknown level for the highest, and refuses what is no report', () => {
    expect(
      readGenerateReport({ detailed_changes: null, potential_impact: { banner: { level: 'none' } } }),
    ).toMatchObject({ banner: { level: 'high' }, changes: [], points: [] })
    for (const document of [null, undefined, [], 'text', { summary: {} }])
      expect(readGenerateReport(document)).toBeNull()
  })

  it('formats amounts, also of a currency that does not exist', () => {
    expect(formatAmount(1_234.5, 'USD')).toBe('$1,234.50')
    expect(formatAmount(3, '<b>')).toBe('3.00 <b>')
  })

  it('finds the address at the end of a line', () => {
    expect(addressIn('create module.service["orders"].terraform_data.rule[0]')).toBe(
      'module.service["orders"].terraform_data.rule[0]',
    )
    expect(addressIn('and 3 more')).toBeNull()
    expect(addressIn(`${'a.'.repeat(100_000)}`)).toBeNull()
  })
})

describe('readCompliance', () => {
  const finding = (rule_id: string, severity: string, resource: string | null = null) => ({
    rule_id,
    severity,
    resource,
    message: 'm',
    suggested_fix: null,
  })
  const document = {
    passed: false,
    summary: 's',
    violations: [
      finding('aws.storage.force-destroy', 'warning', 'a.b'),
      finding('scope_exceeded', 'critical'),
      finding('aws.iam.open-trust-policy', 'error', 'c.d'),
    ],
    checked_rules: ['aws.storage.force-destroy', 'aws.iam.access-key', 'scope_exceeded', 'naming_convention'],
  }

  it('lists the most severe findings first, and the rules that found nothing by what they are about', () => {
    const check = readCompliance(document, undefined)
    expect(check?.findings.map(({ severity, by }) => `${severity} ${by}`)).toEqual([
      'critical model',
      'error code',
      'warning code',
    ])
    expect(check?.passedGroups).toEqual([
      { area: 'AWS: identities and access', by: 'code', rules: [{ id: 'aws.iam.access-key', name: 'access key' }] },
      {
        area: 'Checked by the auditing model',
        by: 'model',
        rules: [{ id: 'naming_convention', name: 'naming convention' }],
      },
    ])
    expect([check?.checkedByCode, check?.checkedByModel]).toEqual([2, 2])
  })

  it('does not take a model that borrows the id of a rule for code', () => {
    const plan = {
      resources: [{ address: 'a.b', findings: [{ rule_id: 'aws.storage.force-destroy' }] }],
      findings: [],
    } as never
    expect(readCompliance(document, plan)?.findings.map(({ rule, by }) => `${rule} ${by}`)).toEqual([
      'scope_exceeded model',
      'aws.iam.open-trust-policy model',
      'aws.storage.force-destroy code',
    ])
  })

  it('refuses what is no check', () => {
    for (const other of [null, [], {}, { passed: 'yes' }]) expect(readCompliance(other, undefined)).toBeNull()
  })

  it('names a rule by the words of its id', () => {
    expect(nameOfRule('aws.network.open-all-ports')).toBe('open all ports')
    expect(nameOfRule('scope_exceeded')).toBe('scope exceeded')
  })

  it('finds the block of a resource in the changed files', () => {
    const whole = 'locals {\n}\nresource "a_b" "c" {\n'
    const files = [{ name: 'main.tf', result: readChange({ text: whole, metadata: { new_file: 'true' } }) }]
    expect(findBlock('a_b.c["x"]', files)).toEqual({ file: 'main.tf', line: 3 })
    expect(findBlock('module.m.a_b.c', files)).toBeNull()
    expect(findBlock('data.a_b.c', files)).toBeNull()
  })
})
