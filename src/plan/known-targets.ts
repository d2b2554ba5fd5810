import { isJsonObject, type Json } from '../base/json.ts'
import { covers } from './outside-targets.ts'
import { describesCode } from './parse-plan.ts'
import type { Plan } from './types.ts'

/**
 * Whether any of the targets names something that the plan looked at: in the code, in the state or gone from the
 * cloud. The engine plans a target that names nothing without an error and without a change. A document that does
 * not tell what the code declares does not tell that nothing is named either.
 */
export function namesAnything(plan: Plan, targets: readonly string[]): boolean {
  const named = (address: Json | undefined) =>
    typeof address === 'string' && targets.some((target) => covers(target, address))
  if (targets.length === 0 || !describesCode(plan) || plan.resource_changes.some(({ address }) => named(address)))
    return true
  return entriesOf(plan).some((entry) => isJsonObject(entry) && (named(entry.address) || named(entry.previous_address)))
}

function entriesOf({ document }: Plan): Json[] {
  const drift = Array.isArray(document.resource_drift) ? document.resource_drift : []
  return [...drift, ...resourcesOf(rootModule(document.prior_state)), ...resourcesOf(rootModule(document))]
}

/** Resources of a module and of everything it calls. */
function resourcesOf(module: Json | undefined): Json[] {
  if (!isJsonObject(module)) return []
  const own = Array.isArray(module.resources) ? module.resources : []
  const children = Array.isArray(module.child_modules) ? module.child_modules : []
  return [...own, ...children.flatMap(resourcesOf)]
}

/** `values` of the state before, or `planned_values` of the plan itself. */
function rootModule(holder: Json | undefined): Json | undefined {
  if (!isJsonObject(holder)) return undefined
  const values = holder.values ?? holder.planned_values
  return isJsonObject(values) ? values.root_module : undefined
}
