import type { Plan } from '../../src/plan/plan.ts'
import { managedChanges } from '../../src/plan/planned-changes.ts'
import { evaluateStatements } from '../../src/rules/intent/evaluate-statements.ts'
import { fits } from '../../src/rules/intent/glob.ts'
import type { Expectations } from './scenario.ts'

/** True if these expectations need a plan. */
export const needsPlan = ({ plan, plan_empty, moved }: Expectations): boolean =>
  plan.length > 0 || moved.length > 0 || plan_empty !== undefined

/** @param plan a text is the reason why there is none */
export function planFailures(expected: Expectations, plan: Plan | string | null): string[] {
  if (plan === null || typeof plan === 'string')
    return [`there is no plan of the branch: ${plan ?? 'the session did not get that far'}`]
  const failures: string[] = []
  if (expected.plan_empty !== undefined) {
    const changes = managedChanges(plan).map(({ resource, action }) => `${action} ${resource.address}`)
    if ((changes.length === 0) !== expected.plan_empty)
      failures.push(
        `a plan of the branch ${changes.length === 0 ? 'is empty' : `is not empty: ${changes.slice(0, 5).join(', ')}`}`,
      )
  }
  for (const { statement, verdict, finding: found } of evaluateStatements(expected.plan, plan))
    if (verdict !== 'met') failures.push(`${verdict}: ${statement.text} (${found})`)
  for (const wanted of expected.moved) failures.push(...moveFailures(wanted, plan))
  return failures
}

/** Finds faults of a move, which must neither create the object again nor delete the old address. */
function moveFailures({ from, to }: Expectations['moved'][number], plan: Plan): string[] {
  const moved = plan.resource_changes.filter(
    ({ address, previous_address }) =>
      previous_address !== undefined && fits(from, previous_address) && fits(to, address),
  )
  if (moved.length === 0) return [`the plan moves nothing from ${from} to ${to}`]
  const lost = moved.filter(({ change }) => change.actions.includes('delete') || change.actions.includes('create'))
  return lost.map(({ address, change }) => `${address} is moved, and ${change.actions.join(' and ')}`)
}
