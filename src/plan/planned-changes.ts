import { isJsonObject, type Json } from '../base/json.ts'
import { actionOf, type ChangeAction, type PlanCounts, type PlannedChange } from './actions.ts'
import type { Plan, ResourceChange } from './plan.ts'

/** Returns the changes of managed resources in the plan's order, without reads of data sources. */
export function managedChanges(plan: Plan): { resource: ResourceChange; action: ChangeAction }[] {
  return plan.resource_changes.flatMap((resource) => {
    const action = resource.mode === 'data' ? 'none' : actionOf(resource.change.actions)
    return action === 'none' ? [] : [{ resource, action }]
  })
}

/** Returns address, type and action of every change, in the plan's order. */
export function plannedChanges(plan: Plan): PlannedChange[] {
  return managedChanges(plan).map(({ resource, action }) => ({
    address: addressOf(resource),
    type: resource.type,
    action,
    ...(action === 'replace' && !resource.change.actions.includes('delete') && { keeps_old: true as const }),
  }))
}

/** Counts created, updated, replaced and deleted objects; a replacement counts once. */
export function planCounts(plan: Plan): PlanCounts {
  const counts: PlanCounts = { create: 0, update: 0, delete: 0, replace: 0 }
  for (const { action } of managedChanges(plan)) counts[action]++
  return counts
}

/** Appends the key of a leftover of an interrupted replacement, which has the address of the live object. */
export const addressOf = (resource: ResourceChange) =>
  resource.deposed === undefined ? resource.address : `${resource.address} (deposed object ${resource.deposed})`

/** Returns addresses that the plan creates, except resources deleted outside the engine (`resource_drift`). */
export function newAddresses(plan: Plan): Set<string> {
  const deleted = deletedOutside(plan.document.resource_drift)
  const created = plan.resource_changes.filter(
    ({ change }) => change.actions.length === 1 && change.actions[0] === 'create',
  )
  return new Set(created.map(({ address }) => address).filter((address) => !deleted.has(address)))
}

function deletedOutside(drift: Json | undefined): Set<string> {
  const addresses = new Set<string>()
  if (!Array.isArray(drift)) return addresses
  for (const entry of drift) {
    if (!isJsonObject(entry) || !isJsonObject(entry.change ?? null) || typeof entry.address !== 'string') continue
    const { actions } = entry.change as { actions?: Json }
    if (Array.isArray(actions) && actions.includes('delete')) addresses.add(entry.address)
  }
  return addresses
}
