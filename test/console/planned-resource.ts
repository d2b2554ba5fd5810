import type { PlanDocument, PlannedResource } from '../../console/client/api/schemas.ts'

const EMPTY = { create: 0, update: 0, replace: 0, delete: 0, read: 0, import: 0, move: 0, forget: 0, none: 0 }

export const plannedResource = (address: string, given: Partial<PlannedResource> = {}): PlannedResource => ({
  address,
  module_address: null,
  mode: 'managed',
  type: 'aws_s3_bucket',
  name: address,
  index: null,
  deposed: null,
  provider: null,
  action: 'create',
  action_reason: null,
  replace: null,
  import: null,
  moved_from: null,
  is_targeted: true,
  is_critical: false,
  critical_reason: null,
  attributes: [{ path: ['bucket'], change: 'added', before: null, after: address }],
  attributes_left_out: 0,
  attributes_unchanged: 0,
  depends_on: [],
  depends_on_left_out: 0,
  findings: [],
  statements: [],
  ...given,
})

export function planDocument(resources: PlannedResource[], given: Partial<PlanDocument> = {}): PlanDocument {
  const summary = { ...EMPTY }
  for (const { action } of resources) summary[action]++
  return {
    schema_version: 1,
    engine: { name: 'OpenTofu', version: '1.10.6' },
    targets: [],
    checked: { rules: true, request: true, outside_targets: true },
    summary,
    resources,
    outputs: [],
    drift: [],
    drift_left_out: 0,
    findings: [],
    statements: [],
    outside_targets: null,
    resources_without_attributes: 0,
    ...given,
  }
}
