import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import type { Plan, ResourceChange } from '../plan.ts'
/**
 * Reads the state that a plan was made from: the address of each managed resource with its identifier, which is empty
 * when the resource has none.
 */
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

/** The `arn` of a resource, else its `id`: the contract of the iac service identifies what a state manages so. */
function identifierOf(values: Json | undefined): string {
  for (const value of [memberOf(values, 'arn'), memberOf(values, 'id')])
    if (typeof value === 'string' && value !== '') return value
  return ''
}

/** The plan's changes by address, without data sources and objects left over from interrupted replacements. */
export const changesByAddress = (plan: Plan): Map<string, ResourceChange> =>
  new Map(
    plan.resource_changes
      .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
      .map((one) => [one.address, one]),
  )

/** Reports whether the plan would create the resource. Only then can the engine import an object to its address. */
export const isCreated = ({ change }: ResourceChange): boolean =>
  change.importing === undefined && change.actions.length === 1 && change.actions[0] === 'create'
