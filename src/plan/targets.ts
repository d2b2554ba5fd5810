import { isJsonObject, type Json } from '../base/json.ts'
import { managedChanges, plannedChanges } from './changes.ts'
import { describesCode, type Plan, type PlannedChange } from './plan.ts'

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

/** What a plan of the whole root would do that a targeted plan leaves out; `reason` is masked and short. */
export type BeyondTargets = { made: true; changes: PlannedChange[] } | { made: false; reason: string }

/** Changes of the whole root at addresses that the targeted plan does not change, in the plan's order. */
export function changesBeyond(targeted: Plan, whole: Plan): PlannedChange[] {
  const planned = new Set(plannedChanges(targeted).map(({ address }) => address))
  return plannedChanges(whole).filter(({ address }) => !planned.has(address))
}

/** Title of the report entry that tells about them. */
export const BEYOND_TITLE = 'Outside the targets'

export const isBeyondTitle = (title: string): boolean => title.trim().toLowerCase() === BEYOND_TITLE.toLowerCase()

const MAX_LISTED = 50

/** The entry's text: a sentence, then one line `- <action> <address>` for each change. */
export function beyondText(beyond: BeyondTargets): string {
  if (!beyond.made)
    return `What a plan of the whole root would change outside the targets could not be determined: ${beyond.reason}`
  const { changes } = beyond
  if (changes.length === 0) return 'A plan of the whole root changes nothing outside the targets.'
  const lead = `A plan of the whole root would also make ${changes.length === 1 ? 'a change' : `${changes.length} changes`} that this plan leaves out:`
  return [lead, ...changeLines(changes)].join('\n')
}

function changeLines(changes: readonly PlannedChange[]): string[] {
  const lines = changes.slice(0, MAX_LISTED).map(({ address, action }) => `- ${action} ${address}`)
  return changes.length > MAX_LISTED ? [...lines, `- and ${changes.length - MAX_LISTED} more`] : lines
}

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
