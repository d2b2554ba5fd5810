import { isJsonObject, itemsOf, type Json, memberOf } from '../../base/json.ts'
import { withoutIndexes } from '../addresses.ts'
import type { Plan } from '../plan.ts'
import { covers, plannedAddresses } from './targets.ts'

/**
 * Targets that match nothing in the code, in the state and in the plan. The engine is silent about them. None when the
 * document does not say what the code declares, since then nobody can tell.
 */
export function findUnknownTargets(plan: Plan, targets: readonly string[]): string[] {
  const root = memberOf(plan.document.configuration, 'root_module')
  if (!isJsonObject(root ?? null)) return []
  const present = plannedAddresses(plan)
  const declared = declaredAddresses(root, '')
  return targets.filter((target) => {
    if (present.some((address) => covers(target, address))) return false
    // Whether an instance exists is known from the plan alone, whether a block exists from the code.
    return target !== withoutIndexes(target) || !declared.some((address) => covers(target, address))
  })
}

/** Blocks and modules of a module of the configuration, without indexes. */
function declaredAddresses(module: Json | undefined, prefix: string): string[] {
  const own = itemsOf(memberOf(module, 'resources')).map((resource) => `${prefix}${memberOf(resource, 'address')}`)
  const calls = memberOf(module, 'module_calls')
  const called = Object.entries(isJsonObject(calls ?? null) ? (calls as object) : {}).flatMap(([name, call]) => {
    const address = `${prefix}module.${name}`
    return [address, ...declaredAddresses(memberOf(call, 'module'), `${address}.`)]
  })
  return [...own, ...called]
}
