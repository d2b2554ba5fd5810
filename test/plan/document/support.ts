import { createMasker } from '../../../src/base/masking.ts'
import { createPlanDocument } from '../../../src/plan/document/create-document.ts'
import type { DocumentAttribute, PlanDocument, PlanDocumentFacts } from '../../../src/plan/document/plan-document.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { maskerOf } from '../../../src/plan/sensitive.ts'
import { planWith } from '../fixtures.ts'

/** Makes a plan from `resource_changes` entries and other members of its document. */
export const planFrom = (changes: readonly object[], rest: object = {}): Plan =>
  planWith({ resource_changes: changes, ...rest })

export const entry = (address: string, change: object, rest: object = {}) => ({
  address,
  mode: address.startsWith('data.') ? 'data' : 'managed',
  type: address.split('.').at(-2) ?? '',
  name: (address.split('.').at(-1) ?? '').replace(/\[.*/, ''),
  provider_name: 'registry.terraform.io/hashicorp/aws',
  change: { before: null, after: null, after_unknown: {}, before_sensitive: {}, after_sensitive: {}, ...change },
  ...rest,
})

export const documentOf = (plan: Plan, facts: Partial<PlanDocumentFacts> = {}): PlanDocument =>
  createPlanDocument({ plan, targets: [], masker: maskerOf(plan), ...facts })

export const plain = createMasker([])

/** Returns the resource of a plan with one entry. */
export function resourceOf(change: object, rest: object = {}) {
  const [resource] = documentOf(planFrom([entry('aws_thing.one', change, rest)])).resources
  if (!resource) throw new Error('the plan has no resource')
  return resource
}

/** Renders `path: before -> after`. */
export const lines = (attributes: readonly DocumentAttribute[]): string[] =>
  attributes.map(({ path, before, after, unknown, sensitive, cut, change }) => {
    const marks = [unknown && 'unknown', sensitive && 'sensitive', cut && 'cut'].filter(Boolean)
    const sides = change === 'same' ? JSON.stringify(before) : `${JSON.stringify(before)} -> ${JSON.stringify(after)}`
    return `${change} ${path.join('.')}: ${sides}${marks.length > 0 ? ` (${marks.join(', ')})` : ''}`
  })
