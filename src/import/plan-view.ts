import { isJsonObject, type Json } from '../base/json.ts'
import type { Plan, ResourceChange } from '../plan/types.ts'

/** Addresses of managed resources in the state that a plan was made from, each with its identifier (empty when it has none). */
export function stateOf(plan: Plan): Map<string, string> {
  const found = new Map<string, string>()
  const state = plan.document.prior_state
  const values = isJsonObject(state ?? null) ? member(state, 'values') : undefined
  collect(member(values, 'root_module'), found)
  return found
}

function collect(module: Json | undefined, found: Map<string, string>): void {
  for (const resource of list(member(module, 'resources'))) {
    const address = member(resource, 'address')
    if (typeof address !== 'string' || member(resource, 'mode') !== 'managed') continue
    found.set(address, identifierOf(member(resource, 'values')))
  }
  for (const child of list(member(module, 'child_modules'))) collect(child, found)
}

/** The first of `arn` and `id`, as the iac contract identifies what a state manages. */
function identifierOf(values: Json | undefined): string {
  for (const value of [member(values, 'arn'), member(values, 'id')])
    if (typeof value === 'string' && value !== '') return value
  return ''
}

/** What the plan does at each address; leftovers of interrupted replacements and data sources are left out. */
export const changesByAddress = (plan: Plan): Map<string, ResourceChange> =>
  new Map(
    plan.resource_changes
      .filter(({ mode, deposed }) => mode !== 'data' && deposed === undefined)
      .map((one) => [one.address, one]),
  )

/** Whether a resource would be made anew: there the engine can import. */
export const isCreated = ({ change }: ResourceChange): boolean =>
  change.importing === undefined && change.actions.length === 1 && change.actions[0] === 'create'

const member = (value: Json | undefined, key: string): Json | undefined =>
  value !== undefined && isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
