import { itemsOf, memberOf, parseJson } from '../../base/json.ts'
import { actionOf, isMoved, mainAction } from '../actions.ts'
import { readAddress } from '../addresses.ts'
import { shownId } from '../change-list.ts'
import { criticalityOf } from '../impact.ts'
import type { ResourceChange } from '../plan.ts'
import { addressOf } from '../planned-changes.ts'
import { MAX_DEPENDENCIES } from './limits.ts'
import type { DocumentResource } from './plan-document.ts'
import type { Display } from './shown.ts'

/** Describes one entry of the plan's `resource_changes`, without its attributes. */
export function describeResource(resource: ResourceChange, isTargeted: boolean, display: Display) {
  const { module_address, mode, type, name, deposed, provider_name, action_reason, previous_address, change } = resource
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
    import: change.importing ? { id: shownId(memberOf(change.importing, 'id'), display) } : null,
    moved_from: isMoved(resource) && previous_address ? display.text(previous_address) : null,
    is_targeted: isTargeted,
    is_critical: mode !== 'data' && critical !== null,
    critical_reason: mode === 'data' ? null : critical,
  } satisfies Partial<DocumentResource>
}

/** Returns the index that the plan states, else the one at the end of the address. */
function indexOf(resource: ResourceChange, display: Display): string | number | null {
  const { index, address } = resource
  if (typeof index === 'number') return index
  if (typeof index === 'string') return display.text(index)
  const { key } = readAddress(address).resource
  if (key === null) return null
  if (!key.startsWith('"')) return Number(key)
  const text = parseJson(key)
  return display.text(typeof text === 'string' ? text : key.slice(1, -1))
}

/** Returns the reasons for a replacement and its order; null for any other action. */
function replacementOf({ mode, change }: ResourceChange, display: Display): DocumentResource['replace'] {
  const { actions, replace_paths } = change
  if (mode === 'data' || actionOf(actions) !== 'replace') return null
  const keepsOld = actions.includes('forget') && !actions.includes('delete')
  const isStep = (step: unknown) => typeof step === 'string' || typeof step === 'number'
  return {
    order:
      actions.indexOf('create') < actions.indexOf(keepsOld ? 'forget' : 'delete') ? 'create_first' : 'delete_first',
    keeps_old: keepsOld,
    reasons: itemsOf(replace_paths)
      .slice(0, MAX_DEPENDENCIES)
      .map((path) => ({ path: display.path(itemsOf(path).filter(isStep) as (string | number)[]) }))
      .filter(({ path }) => path.length > 0),
  }
}
