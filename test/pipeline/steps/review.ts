import { reviewPlan } from '../../../pipeline/steps/generate/review-plan.ts'
import type { ValidPlan } from '../../../pipeline/steps/plan/plan.ts'
import type { PlanBackground } from '../../../src/chains/shared/plan-background.ts'
import { emptyResult } from '../../../src/rounds/round-result.ts'
import type { StepWorld } from './support.ts'

type Options = Parameters<typeof reviewPlan>[2]

/** A valid report without content. */
export const REPORT = {
  summary: {},
  detailed_changes: [],
  potential_impact: { banner: { level: 'low', title: 'Small' } },
  estimated_costs: {},
}
/** An audit without findings. */
export const AUDIT = { violations: [], summary: 'Audited.', checked_rules: ['scope_exceeded'] }

/** Reviews a plan, by default of the whole root, without templates and without statements of the request. */
export const review = ({ kit }: StepWorld, valid: ValidPlan, options: Partial<Options> = {}) =>
  reviewPlan(kit, valid, { beyond: Promise.resolve(null), checked: [], conventions: { templates: [] }, ...options })

/** A change of a plan that a rule about public buckets finds. */
export const publicBucket = (address: string) => ({
  address,
  type: 'aws_s3_bucket_acl',
  actions: ['create'],
  after: { acl: 'public-read' },
})

/** Makes the background of a session's first round, except its plan. */
export const background = (text = 'Add a bucket'): PlanBackground => ({
  requests: [{ number: 1, text, fate: 'present' }],
  result: emptyResult(),
})
