import { itemsOf, type Json, memberOf } from '../../base/json.ts'
import { type PlannedChange, toReportAction } from '../actions.ts'
import { describesCode, type Plan } from '../plan.ts'
import { managedChanges, plannedChanges } from '../planned-changes.ts'

/** Most targets that the iac service takes. When there are more, the whole root is planned instead, without targets. */
export const MAX_TARGETS = 256

/**
 * Changes that no target names. The engine adds them because a target depends on them.
 * @param targets resource or module addresses; an empty list stands for the whole root, so nothing is outside it
 */
export function changesOutsideTargets(plan: Plan, targets: readonly string[]): PlannedChange[] {
  if (targets.length === 0) return []
  return managedChanges(plan).flatMap(({ resource, action }) => {
    const addresses = [resource.address, resource.previous_address ?? resource.address]
    const isTargeted = targets.some((target) => addresses.some((address) => covers(target, address)))
    return isTargeted ? [] : [{ address: resource.address, type: resource.type, action }]
  })
}

/**
 * Reports whether a target includes an address: the same address, an instance of it or, for a module, anything inside.
 */
export const covers = (target: string, address: string) =>
  address === target || address.startsWith(`${target}[`) || (isModule(target) && address.startsWith(`${target}.`))

/** The address of a module ends with `module.<name>`, with or without an index. */
const isModule = (target: string) => /(^|\.)module\.[^.[\]]+(\[("(\\.|[^"\\])*"|\d+)\])?$/.test(target)

/**
 * What a plan of the whole root would do and a targeted plan leaves out. `made` is false when the plan of the whole
 * root failed; `reason` is then a short masked text.
 */
export type BeyondTargets = { made: true; changes: PlannedChange[] } | { made: false; reason: string }

/** Changes of the whole root at addresses that the targeted plan does not change, in the plan's order. */
export function changesBeyond(targeted: Plan, whole: Plan): PlannedChange[] {
  const planned = new Set(plannedChanges(targeted).map(({ address }) => address))
  return plannedChanges(whole).filter(({ address }) => !planned.has(address))
}

/** Title of the report entry about changes outside the targets. */
export const BEYOND_TITLE = 'Outside the targets'

export const isBeyondTitle = (title: string): boolean => title.trim().toLowerCase() === BEYOND_TITLE.toLowerCase()

const MAX_LISTED = 50

/** Text of that entry: a sentence, then one line `- <action> <address>` for each change, 50 at most. */
export function describeBeyondTargets(beyond: BeyondTargets): string {
  if (!beyond.made)
    return `What a plan of the whole root would change outside the targets could not be determined: ${beyond.reason}`
  const { changes } = beyond
  if (changes.length === 0) return 'A plan of the whole root changes nothing outside the targets.'
  const count = changes.length === 1 ? 'a change' : `${changes.length} changes`
  const lead = `A plan of the whole root would also make ${count} that this plan leaves out:`
  return [lead, ...changeLines(changes)].join('\n')
}

function changeLines(changes: readonly PlannedChange[]): string[] {
  const lines = changes.slice(0, MAX_LISTED).map(({ address, action }) => `- ${toReportAction(action)} ${address}`)
  return changes.length > MAX_LISTED ? [...lines, `- and ${changes.length - MAX_LISTED} more`] : lines
}

/**
 * Reports whether at least one target matches something that the plan knows: a resource in the code, in the state, or
 * deleted in the cloud. The engine does not complain about a target that matches nothing; it makes an empty plan, which
 * would read as "no drift". Also true without targets, and when the document does not say what the code declares, since
 * then nobody can tell that nothing matches.
 */
export function hasMatchingTarget(plan: Plan, targets: readonly string[]): boolean {
  if (targets.length === 0 || !describesCode(plan)) return true
  const addresses = plannedAddresses(plan)
  return targets.some((target) => addresses.some((address) => covers(target, address)))
}

/** Every address in the plan's changes, in drift, in the state before it, and in what it leads to. */
export function plannedAddresses({ document, resource_changes }: Plan): string[] {
  const modules = [rootModule(document.prior_state), rootModule(document)]
  const entries = [...itemsOf(document.resource_drift), ...modules.flatMap(resourcesOf)]
  return [
    ...resource_changes.flatMap(({ address, previous_address }) => [address, previous_address]),
    ...entries.flatMap((entry) => [memberOf(entry, 'address'), memberOf(entry, 'previous_address')]),
  ].filter((address) => typeof address === 'string')
}

/** Resources of a module and of all modules that it calls. */
function resourcesOf(module: Json | undefined): Json[] {
  return [...itemsOf(memberOf(module, 'resources')), ...itemsOf(memberOf(module, 'child_modules')).flatMap(resourcesOf)]
}

/** The root module in the `values` of the prior state or in the `planned_values` of the plan itself. */
const rootModule = (holder: Json | undefined): Json | undefined =>
  memberOf(memberOf(holder, 'values') ?? memberOf(holder, 'planned_values'), 'root_module')
