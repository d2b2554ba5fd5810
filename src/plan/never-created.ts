import { isJsonObject, type Json } from '../base/json.ts'
import type { Plan } from './types.ts'

/**
 * Addresses that the plan creates for the first time: the state never held them. A resource that was
 * deleted behind the engine's back is planned as `create` too, but stands in `resource_drift`.
 */
export function neverCreated(plan: Plan): Set<string> {
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
