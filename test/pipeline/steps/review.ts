import { reviewPlan } from '../../../pipeline/steps/generate/review-plan.ts'
import type { ValidPlan } from '../../../pipeline/steps/plan/plan.ts'
import type { PlanBackground } from '../../../src/chains/shared/asked.ts'
import { emptyResult } from '../../../src/rounds/round-result.ts'
import type { StepWorld } from './support.ts'

type Options = Parameters<typeof reviewPlan>[2]

/** A report that fits, in which nothing is said. */
export const REPORT = {
  summary: {},
  detailed_changes: [],
  potential_impact: { banner: { level: 'low', title: 'Small' } },
  estimated_costs: {},
}
/** An audit that finds nothing. */
export const AUDIT = { violations: [], summary: 'Audited.', checked_rules: ['scope_exceeded'] }

/** Reviews a plan; by default a plan of the whole root, without templates and without statements of the request. */
export const review = ({ kit }: StepWorld, valid: ValidPlan, options: Partial<Options> = {}) =>
  reviewPlan(kit, valid, {
    beyond: Promise.resolve(null),
    checked: [],
    conventions: { templates: [] },
    ...options,
  })

/** What the first round of a session knows besides its plan. */
export const background = (text = 'Add a bucket'): PlanBackground => ({
  requests: [{ number: 1, text, fate: 'present' }],
  result: emptyResult(),
})
