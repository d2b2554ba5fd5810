import type { JsonObject } from '../base/json.ts'
import { withoutIndexes } from '../plan/addresses.ts'
import type { Plan } from '../plan/plan.ts'
import { changesOutsideTargets } from '../plan/targets.ts'
import { expressionsByAddress } from './common/expressions.ts'
import type { PlanContext } from './types.ts'

const NOTHING: JsonObject = {}

/** What rules know of a plan beside the resource they look at. */
export function planContext(plan: Plan, targets: readonly string[]): PlanContext {
  const expressions = expressionsByAddress(plan)
  return {
    outside: new Set(changesOutsideTargets(plan, targets).map(({ address }) => address)),
    expressionsOf: (address) => expressions.get(withoutIndexes(address)) ?? NOTHING,
  }
}
