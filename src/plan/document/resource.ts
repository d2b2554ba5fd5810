import { itemsOf, memberOf, parseQuoted } from '../../base/json.ts'
import { actionOf, isMoved, mainAction } from '../actions.ts'
import { readAddress } from '../addresses.ts'
import { shownId } from '../change-list.ts'
import { criticalityOf } from '../impact.ts'
import type { Change, ResourceChange } from '../plan.ts'
import { addressOf } from '../planned-changes.ts'
import { compareChange, type Difference } from './differences.ts'
import type { DocumentAttribute, DocumentResource } from './plan-document.ts'
import type { Display } from './shown.ts'

/** Returns the address of a resource as the document has it. */
export const shownAddress = (resource: ResourceChange, display: Display): string => display.text(addressOf(resource))

/** Describes one entry of the plan's `resource_changes`, without its attributes. */
export function describeResource(resource: ResourceChange, isTargeted: boolean, display: Display) {
  const { module_address, mode, type, name, deposed, provider_name, action_reason, previous_address, change } = resource
  const criticality = mode === 'data' ? null : criticalityOf(type)
  const reason = criticality === 'unknown' ? null : criticality
  const provider = provider_name ? display.text(provider_name) : null
  return {
    address: shownAddress(resource, display),
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
    is_critical: reason !== null,
    critical_reason: reason,
    criticality_known: criticality !== 'unknown',
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
  return display.text(parseQuoted(key) ?? key.slice(1, -1))
}

const MAX_REASONS = 100

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
      .slice(0, MAX_REASONS)
      .map((path) => ({ path: display.path(itemsOf(path).filter(isStep) as (string | number)[]) }))
      .filter(({ path }) => path.length > 0),
  }
}

/** The listed attributes of a resource, and the number of the others. */
type ListedAttributes = Pick<DocumentResource, 'attributes' | 'attributes_left_out' | 'attributes_unchanged'>

const MAX_ATTRIBUTES = 1_000

/** Attributes that identify an object to people; listed even when unchanged. */
const IDENTIFYING = new Set(['id', 'arn', 'name', 'self_link', 'display_name', 'bucket', 'fqdn'])

/** Lists the attribute changes of an object, in the plan's order. */
export function listAttributes(change: Change, display: Display): ListedAttributes {
  const listed: ListedAttributes = { attributes: [], attributes_left_out: 0, attributes_unchanged: 0 }
  const add = (difference: Difference) => {
    if (listed.attributes.length < MAX_ATTRIBUTES) listed.attributes.push(showDifference(difference, display))
    else listed.attributes_left_out++
  }
  const { clipped } = compareChange(isForgotten(change) ? withoutChange(change) : change, {
    differs: add,
    same: (difference) => {
      if (isIdentifying(difference)) add(difference)
      else listed.attributes_unchanged++
    },
  })
  if (clipped) listed.attributes_left_out++
  return listed
}

/** Reports whether an object stays and only leaves the state. */
const isForgotten = ({ actions }: Change) => actions.includes('forget') && !actions.includes('create')

const withoutChange = (change: Change): Change => ({
  ...change,
  after: change.before,
  after_sensitive: change.before_sensitive,
  after_unknown: null,
})

const isIdentifying = ({ path, after, isSensitive }: Difference): boolean =>
  path.length === 1 && IDENTIFYING.has(String(path[0])) && typeof after.value === 'string' && !isSensitive

function showDifference(difference: Difference, display: Display): DocumentAttribute {
  const { path, change, isUnknown } = difference
  return { path: display.path(path), change, ...showSides(difference, display), ...(isUnknown && UNKNOWN) }
}

const UNKNOWN = { after: null, unknown: true } as const

/** Returns both values for display; a part that one side marks sensitive is hidden on both. */
export function showSides(
  { before, after, isSensitive }: Pick<Difference, 'before' | 'after' | 'isSensitive'>,
  display: Display,
) {
  const old = display.value(before.value, isSensitive || before.sensitive)
  const now = display.value(after.value, isSensitive || after.sensitive)
  return {
    before: old.value,
    after: now.value,
    ...((isSensitive || old.sensitive || now.sensitive) && { sensitive: true as const }),
    ...((old.cut || now.cut) && { cut: true as const }),
  }
}
