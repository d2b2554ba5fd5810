import * as v from 'valibot'
import { expect } from 'vitest'
import { confirmationFor, findLosses } from '../../../console/screens/seal/apply-readiness.ts'
import { createMasker } from '../../../src/base/masking.ts'
import { reportSchemas } from '../../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../../src/reports/settle-generate.ts'
import { documentOf } from '../../plan/document/support.ts'
import { planOf } from '../../plan/fixtures.ts'
import { attack } from './attack.ts'

const GROUP = 'destroying data unseen'

/** What a model says that wants a plan to look harmless. */
const HARMLESS = v.parse(reportSchemas.generate, {
  summary: { create: 0, update: 0, delete: 0, recreate: 0 },
  detailed_changes: [],
  potential_impact: {
    banner: { level: 'low', title: 'Nothing of note', description: 'Nothing that holds data is touched.' },
    summary: 'Nothing that holds data is touched.',
    bullet_points: [],
  },
  estimated_costs: { introduction_paragraph: 'None.' },
})

for (const [type, actions] of [
  ['aws_quicksight_data_set', ['delete']],
  ['acme_data_set', ['delete', 'create']],
  ['kubernetes_manifest', ['create', 'delete']],
] as const)
  attack(GROUP, `a ${type}, of which nobody knows what it holds, goes with ${actions.join(' and ')}`, async () => {
    const plan = planOf([{ address: `${type}.orders`, type, actions: [...actions] }])
    const { banner, summary } = settleGenerateReport(HARMLESS, plan, createMasker([])).potential_impact
    expect([banner.level, banner.description]).toEqual(['medium', expect.stringContaining(`${type}.orders`)])
    expect(summary).toMatch(/^It cannot be told whether this holds data or grants access: /)
    const losses = findLosses(documentOf(plan))
    expect(losses.unknown).toMatchObject([{ is_critical: false, critical_reason: null, criticality_known: false }])
    expect(confirmationFor(losses)).toBe(`${type}.orders`)
    return `told first in the report, medium impact, and to be typed before an apply: ${confirmationFor(losses)}`
  })

attack(GROUP, 'resources that are known to hold nothing go with one click', async () => {
  const lost = (name: string) => ({ address: `aws_subnet.${name}`, type: 'aws_subnet', actions: ['delete'] })
  const losses = findLosses(documentOf(planOf([lost('a'), lost('b')])))
  expect([losses.critical, losses.unknown, confirmationFor(losses)]).toEqual([[], [], '2'])
  return 'the number of resources is to be typed'
})
