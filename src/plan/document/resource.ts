import { type Json, memberOf } from '../../base/json.ts'
import { isMoved, mainAction } from '../actions.ts'
import { criticalityOf } from '../impact.ts'
import { readAddress } from '../own-changes/code-places.ts'
import type { ResourceChange } from '../plan.ts'
import { addressOf } from '../planned-changes.ts'
import { importOf, replacementOf } from './actions.ts'
import type { DocumentResource } from './plan-document.ts'
import type { Display } from './shown.ts'

/** A resource without the attributes. */
type Head = Omit<
  DocumentResource,
  | 'attributes'
  | 'attributes_left_out'
  | 'attributes_unchanged'
  | 'depends_on'
  | 'depends_on_left_out'
  | 'findings'
  | 'statements'
>

/** Describes one entry of the plan's `resource_changes`. */
export function describeResource(resource: ResourceChange, isTargeted: boolean, display: Display): Head {
  const { module_address, mode, type, name, deposed, provider_name, action_reason, previous_address } = resource
  const critical = criticalityOf(type)
  const provider = provider_name ? display.text(provider_name) : null
  return {
    address: display.text(addressOf(resource)),
    module_address: module_address ? display.text(module_address) : null,
    mode: mode === 'data' ? 'data' : 'managed',
    type: display.text(type),
    name: display.text(name),
    index: indexOf(resource, display),
    deposed: deposed === undefined ? null : display.text(deposed),
    provider: provider === null ? null : { source: provider, name: provider.split('/').at(-1) ?? provider },
    action: mainAction(resource),
    action_reason: action_reason ? display.text(action_reason) : null,
    replace: replacementOf(resource, display),
    import: importOf(resource, display),
    moved_from: isMoved(resource) && previous_address ? display.text(previous_address) : null,
    is_targeted: isTargeted,
    is_critical: mode !== 'data' && critical !== null,
    critical_reason: mode === 'data' ? null : critical,
  }
}

/** Returns the index that the plan states, else the one at the end of the address. */
function indexOf(resource: ResourceChange, display: Display): string | number | null {
  const stated = memberOf(resource as unknown as Json, 'index')
  if (typeof stated === 'number') return stated
  if (typeof stated === 'string') return display.text(stated)
  const { key } = readAddress(resource.address).resource
  if (key === null) return null
  return key.startsWith('"') ? display.text(unquote(key)) : Number(key)
}

function unquote(key: string): string {
  try {
    const value: unknown = JSON.parse(key)
    return typeof value === 'string' ? value : key
  } catch {
    return key.slice(1, -1)
  }
}
