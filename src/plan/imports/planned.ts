import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import type { Plan, ResourceChange } from '../plan.ts'
/** Reads the prior state of a plan: each managed address with its identifier, empty for a resource without one. */
export function stateIdentifiers(plan: Plan): Map<string, string> {
  const identifiers = new Map<string, string>()
  const values = memberOf(plan.document.prior_state, 'values')
  collectIdentifiers(memberOf(values, 'root_module'), identifiers)
  return identifiers
}

function collectIdentifiers(module: Json | undefined, identifiers: Map<string, string>): void {
  for (const resource of itemsOf(memberOf(module, 'resources'))) {
    const address = memberOf(resource, 'address')
    if (typeof address !== 'string' || memberOf(resource, 'mode') !== 'managed') continue
    identifiers.set(address, identifierOf(memberOf(resource, 'values')))
  }
  for (const child of itemsOf(memberOf(module, 'child_modules'))) collectIdentifiers(child, identifiers)
}

/** Returns the `arn`, else the `id`: the contract of the iac sidecar identifies managed resources by these. */
function identifierOf(values: Json | undefined): string {
  for (const value of [memberOf(values, 'arn'), memberOf(values, 'id')])
    if (typeof value === 'string' && value !== '') return value
  return ''
}

/** Indexes changes by address, without data sources and leftovers of interrupted replacements. */
export const changesByAddress = (plan: Plan): Map<string, ResourceChange> =>
  new Map(
    plan.resource_changes
      .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
      .map((one) => [one.address, one]),
  )

/** Reports whether the plan would create the resource, which an import to its address requires. */
export const isCreated = ({ change }: ResourceChange): boolean =>
  change.importing === undefined && change.actions.length === 1 && change.actions[0] === 'create'
