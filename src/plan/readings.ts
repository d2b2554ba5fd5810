import { isEqualJson, isJsonObject, type Json, memberOf } from '../base/json.ts'
import { modulesOf, type Plan, stateResources } from './plan.ts'

/**
 * Reports whether an earlier plan over a state would be the same if it were made now, as far as a later plan over that
 * state can tell. What others change leaves the state as it is, but every plan holds what it read of the
 * infrastructure: the refreshed objects and the data sources. Each that the earlier plan read has to read the same in the
 * later one, and no other object may have appeared; data sources that only the later code has do not matter.
 * Modules that do not lie in the repository may have changed unseen, so that a plan with one is never the same.
 */
export const readsTheSame = (earlier: Plan, later: Plan): boolean => {
  if (!isEqualJson(earlier.document.terraform_version, later.document.terraform_version)) return false
  if (hasRemoteModules(earlier)) return false
  const [before, now] = [readingsOf(earlier), readingsOf(later)]
  return (
    [...before].every(([id, { values }]) => now.has(id) && isEqualJson(values, now.get(id)?.values)) &&
    [...now].every(([id, { isData }]) => isData || before.has(id))
  )
}

/** Reads what a plan found, by the address that an object has in the state. */
function readingsOf(plan: Plan): Map<string, { values: Json | undefined; isData: boolean }> {
  const previous = new Map(plan.resource_changes.map((one) => [one.address, one.previous_address ?? one.address]))
  return new Map(
    stateResources(plan).map(({ address, deposed_key = null, mode, values }) => {
      const id = JSON.stringify([previous.get(String(address)) ?? address ?? null, deposed_key])
      return [id, { values, isData: mode === 'data' }]
    }),
  )
}

const hasRemoteModules = (plan: Plan): boolean =>
  modulesOf(plan).some(({ module }) =>
    Object.values(callsOf(module)).some((call) => !/^\.{1,2}\//.test(String(memberOf(call, 'source') ?? ''))),
  )

const callsOf = (module: Json): { [name: string]: Json } => {
  const calls = memberOf(module, 'module_calls') ?? null
  return isJsonObject(calls) ? calls : {}
}
