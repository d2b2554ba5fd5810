import { plannedChanges } from './changes.ts'
import { type Criticality, criticalityOf } from './critical-types.ts'
import type { Plan, PlannedChange } from './types.ts'

const IMPACT_LEVELS = ['low', 'medium', 'high'] as const
export type ImpactLevel = (typeof IMPACT_LEVELS)[number]

export interface CriticalChange extends PlannedChange {
  action: 'delete' | 'recreate'
  holds: Criticality
}

/** Destroyed and replaced objects that hold data or grant access, in the plan's order. */
export function criticalChanges(plan: Plan): CriticalChange[] {
  return plannedChanges(plan).flatMap((change) => {
    if (change.action !== 'delete' && change.action !== 'recreate') return []
    const holds = criticalityOf(change.type)
    return holds ? [{ ...change, action: change.action, holds }] : []
  })
}

/** Least impact level the plan allows: `high` as soon as one critical object goes. */
export const impactFloor = (plan: Plan): ImpactLevel => (criticalChanges(plan).length > 0 ? 'high' : 'low')

/** The higher of two levels. */
export const raisedTo = (level: ImpactLevel, floor: ImpactLevel): ImpactLevel =>
  IMPACT_LEVELS.indexOf(floor) > IMPACT_LEVELS.indexOf(level) ? floor : level
