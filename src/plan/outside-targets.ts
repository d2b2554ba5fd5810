import { managedChanges } from './changes.ts'
import type { Plan, PlannedChange } from './types.ts'

/**
 * Changes that no target names: what the engine added because a target depends on it.
 * @param targets resource or module addresses; none means the whole root, so nothing is outside
 */
export function changesOutsideTargets(plan: Plan, targets: readonly string[]): PlannedChange[] {
  if (targets.length === 0) return []
  return managedChanges(plan).flatMap(({ resource, action }) => {
    const addresses = [resource.address, resource.previous_address ?? resource.address]
    const named = targets.some((target) => addresses.some((address) => covers(target, address)))
    return named ? [] : [{ address: resource.address, type: resource.type, action }]
  })
}

/** A target names itself, its instances and, for a module, everything inside. */
export const covers = (target: string, address: string) =>
  address === target || address.startsWith(`${target}[`) || (isModule(target) && address.startsWith(`${target}.`))

/** The last step of a module's address is `module.<name>`, with an index or without. */
const isModule = (target: string) => /(^|\.)module\.[^.[\]]+(\[("(\\.|[^"\\])*"|\d+)\])?$/.test(target)
