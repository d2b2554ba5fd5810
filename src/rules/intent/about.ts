import type { Plan } from '../../plan/plan.ts'
import { fits } from './glob.ts'
import { isAt, isSelected, type Resource, viewPlan } from './resources.ts'
import type { Statement, StatementResult } from './statement.ts'

/** Most addresses of one statement. */
const MAX_ADDRESSES = 1_000

/** Finds at most 1,000 resources of each statement: those it selects, or those that break it when it covers all. */
export function aboutAddresses(
  results: readonly StatementResult[],
  plan: Plan,
): { result: StatementResult; addresses: string[] }[] {
  if (results.length === 0) return []
  const { resources } = viewPlan(plan)
  return results.map((result) => ({ result, addresses: findAddresses(result.statement, resources) }))
}

function findAddresses(statement: Statement, resources: readonly Resource[]): string[] {
  const addresses: string[] = []
  for (const resource of resources) {
    if (addresses.length === MAX_ADDRESSES) break
    if (isAbout(statement, resource)) addresses.push(resource.address)
  }
  return addresses
}

function isAbout(statement: Statement, resource: Resource): boolean {
  const { action, type, address } = resource
  switch (statement.kind) {
    case 'resource_count':
      return isSelected(statement, resource) && (statement.action === undefined || statement.action === action)
    case 'attribute':
    case 'unchanged':
      return isSelected(statement, resource)
    case 'no_deletions':
      return action === 'delete' || action === 'replace'
    case 'no_changes_outside':
      return (
        action !== 'none' &&
        !statement.types.some((one) => fits(one, type)) &&
        !statement.addresses.some((one) => isAt(one, address))
      )
    case 'output_exists':
      return false
  }
}
