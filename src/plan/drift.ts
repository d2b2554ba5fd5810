import type { Json } from '../base/json.ts'
import { type Masker, maskFlagged } from '../base/masking.ts'
import { type Differences, differences, isEmpty } from './diff.ts'
import type { Change, Plan } from './plan.ts'
import { maskerOf } from './sensitive.ts'

/** What would make the code match the infrastructure: the plan's change turned round. */
export type DriftOperation =
  | { address: string; action: 'update resource'; changes: Differences }
  | { address: string; action: 'delete resource' }
  | { address: string; action: 'create resource'; changes: Json }

/**
 * Turns every update, create, delete and replacement of a managed resource round. No-op, read and
 * forget are no drift, nor are leftover objects of an interrupted replacement. Sensitive values are
 * masked.
 * @param masker also hides values that other plans of the round mark sensitive
 */
export function driftOperations(plan: Plan, masker: Masker = maskerOf(plan)): DriftOperation[] {
  return plan.resource_changes.flatMap((resource) => {
    if (resource.mode === 'data' || resource.deposed !== undefined) return []
    const operation = inverted(resource.address, resource.change)
    return operation ? [masked(operation, masker)] : []
  })
}

function inverted(address: string, change: Change): DriftOperation | null {
  const { actions } = change
  const creates = actions.includes('create')
  const deletes = actions.includes('delete')
  if (actions.includes('update') || (creates && deletes)) {
    const changes = inverseChanges(change)
    return isEmpty(changes) ? null : { address, action: 'update resource', changes }
  }
  if (creates) return { address, action: 'delete resource' }
  if (deletes)
    return { address, action: 'create resource', changes: maskFlagged(change.before, change.before_sensitive) }
  return null
}

/** `old_value` is what the code says, `new_value` what the cloud holds. What the code does not know yet is no difference. */
const inverseChanges = (change: Change): Differences =>
  differences(
    { value: change.after, sensitive: change.after_sensitive, unknown: change.after_unknown },
    { value: change.before, sensitive: change.before_sensitive },
  )

function masked(operation: DriftOperation, masker: Masker): DriftOperation {
  if (operation.action === 'delete resource') return operation
  if (operation.action === 'create resource') return { ...operation, changes: masker.json(operation.changes) }
  const { changed, added, removed } = operation.changes
  const mask = (value: Json) => masker.json(value)
  return {
    ...operation,
    changes: {
      ...(changed && {
        changed: mapValues(changed, ({ old_value, new_value }) => ({
          old_value: mask(old_value),
          new_value: mask(new_value),
        })),
      }),
      ...(added && { added: mapValues(added, mask) }),
      ...(removed && { removed: mapValues(removed, mask) }),
    },
  }
}

const mapValues = <In, Out>(entries: Record<string, In>, change: (value: In) => Out): Record<string, Out> =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(value)]))

/** One attribute in which code and infrastructure differ; the path is empty when it is the resource as a whole. */
export interface DriftFact {
  attribute: string
  text: string
}

/** Longest value that is written out. */
const MAX_VALUE = 300
/** Most attributes that are named one by one. */
const MAX_FACTS = 100

/** What differs, attribute by attribute, from the plan alone. Values are masked as in the operation. */
export function driftFacts(operation: DriftOperation): DriftFact[] {
  if (operation.action === 'delete resource')
    return [{ attribute: '', text: 'The code has it, the infrastructure does not.' }]
  if (operation.action === 'create resource')
    return [{ attribute: '', text: 'The infrastructure has it, the code does not.' }]
  const { changed = {}, added = {}, removed = {} } = operation.changes
  const facts = [
    ...Object.entries(changed).map(([path, { old_value, new_value }]) =>
      fact(path, `${shown(old_value)} in the code, ${shown(new_value)} in the infrastructure`),
    ),
    ...Object.entries(added).map(([path, value]) =>
      fact(path, `not in the code, ${shown(value)} in the infrastructure`),
    ),
    ...Object.entries(removed).map(([path, value]) =>
      fact(path, `${shown(value)} in the code, not in the infrastructure`),
    ),
  ]
  if (facts.length <= MAX_FACTS) return facts
  return [...facts.slice(0, MAX_FACTS), { attribute: '', text: `and ${facts.length - MAX_FACTS} more differences` }]
}

const fact = (attribute: string, text: string): DriftFact => ({
  attribute,
  text: attribute === '' ? text : `${attribute}: ${text}`,
})

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE ? `${[...text].slice(0, MAX_VALUE).join('')}…` : text
}
