import type { Json } from '../base/json.ts'
import { type Masker, maskFlagged } from '../base/masking.ts'
import { type Differences, findDifferences, isEmpty } from './diff.ts'
import type { Change, Plan } from './plan.ts'
import { maskerOf } from './sensitive.ts'
import { withoutStateArguments } from './state-arguments.ts'

/** The code change that makes code match infrastructure: the inverse of the planned change. */
export type DriftOperation =
  | { address: string; action: 'update resource'; changes: Differences }
  | { address: string; action: 'delete resource' }
  | { address: string; action: 'create resource'; changes: Json }

/**
 * Inverts every planned update, create, delete and replacement of a managed resource. Left-over objects of interrupted
 * replacements and arguments that an import cannot read are not drift. Sensitive values are masked.
 * @param masker may also hide values that other plans of the round mark sensitive
 */
export function driftOperations(plan: Plan, masker: Masker = maskerOf(plan)): DriftOperation[] {
  return plan.resource_changes.flatMap((resource) => {
    if (resource.mode === 'data' || resource.deposed !== undefined) return []
    const operation = invertChange(resource.address, withoutStateArguments(resource))
    return operation ? [maskOperation(operation, masker)] : []
  })
}

function invertChange(address: string, change: Change): DriftOperation | null {
  const { actions } = change
  const creates = actions.includes('create')
  const deletes = actions.includes('delete')
  if (actions.includes('update') || (creates && deletes)) {
    const changes = invertedDifferences(change)
    return isEmpty(changes) ? null : { address, action: 'update resource', changes }
  }
  if (creates) return { address, action: 'delete resource' }
  if (deletes)
    return { address, action: 'create resource', changes: maskFlagged(change.before, change.before_sensitive) }
  return null
}

/** Returns the differences from code to cloud; values known only after the apply are skipped. */
const invertedDifferences = (change: Change): Differences =>
  findDifferences(
    { value: change.after, sensitive: change.after_sensitive, unknown: change.after_unknown },
    { value: change.before, sensitive: change.before_sensitive },
  )

function maskOperation(operation: DriftOperation, masker: Masker): DriftOperation {
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

/** An attribute that differs between code and infrastructure, with a sentence about it. */
export interface DriftFact {
  /** Path of the attribute; empty when the whole resource exists on one side only. */
  attribute: string
  text: string
}

/** Longest JSON text of a value that is shown in full, in characters. */
const MAX_VALUE = 300
/** Most attributes of one resource that are listed one by one. */
const MAX_FACTS = 100

/** Lists the differing attributes of an operation, masked like it. */
export function driftFacts(operation: DriftOperation): DriftFact[] {
  if (operation.action === 'delete resource')
    return [{ attribute: '', text: 'The code has it, the infrastructure does not.' }]
  if (operation.action === 'create resource')
    return [{ attribute: '', text: 'The infrastructure has it, the code does not.' }]
  const { changed = {}, added = {}, removed = {} } = operation.changes
  const facts = [
    ...Object.entries(changed).map(([path, { old_value, new_value }]) =>
      toFact(path, `${renderValue(old_value)} in the code, ${renderValue(new_value)} in the infrastructure`),
    ),
    ...Object.entries(added).map(([path, value]) =>
      toFact(path, `not in the code, ${renderValue(value)} in the infrastructure`),
    ),
    ...Object.entries(removed).map(([path, value]) =>
      toFact(path, `${renderValue(value)} in the code, not in the infrastructure`),
    ),
  ]
  if (facts.length <= MAX_FACTS) return facts
  return [...facts.slice(0, MAX_FACTS), { attribute: '', text: `and ${facts.length - MAX_FACTS} more differences` }]
}

const toFact = (attribute: string, text: string): DriftFact => ({
  attribute,
  text: attribute === '' ? text : `${attribute}: ${text}`,
})

function renderValue(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE ? `${[...text].slice(0, MAX_VALUE).join('')}…` : text
}

const MAX_LISTED = 20

/** Describes in one line what was written into the code to match the infrastructure; `file` may be empty. */
export function describeWritten(operation: DriftOperation, file: string): string {
  const place = file === '' ? '' : ` (${file})`
  if (operation.action === 'delete resource')
    return `${operation.address}: taken out of the code, since the infrastructure no longer has it${place}`
  if (operation.action === 'create resource')
    return `${operation.address}: added to the code, since the infrastructure has it${place}`
  const { changed = {}, added = {}, removed = {} } = operation.changes
  const steps = [
    ...Object.entries(changed).map(
      ([path, { old_value, new_value }]) => `${path} ${renderValue(old_value)} → ${renderValue(new_value)}`,
    ),
    ...Object.entries(added).map(([path, value]) => `${path} unset → ${renderValue(value)}`),
    ...Object.entries(removed).map(([path, value]) => `${path} ${renderValue(value)} → unset`),
  ]
  const more = steps.length - MAX_LISTED
  const listed = [...steps.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return `${operation.address}: ${listed}, as the infrastructure has it${place}`
}

/** Returns the part of an operation that a later reading of its address lacks; null when all of it remains. */
export function vanishedPart(operation: DriftOperation, later: DriftOperation | undefined): DriftOperation | null {
  if (later === undefined) return operation
  if (operation.action !== 'update resource' || later.action !== 'update resource') return null
  const left = new Set(Object.values(later.changes).flatMap((entries) => Object.keys(entries)))
  const changes = Object.fromEntries(
    Object.entries(operation.changes)
      .map(([kind, entries]) => [kind, Object.fromEntries(Object.entries(entries).filter(([path]) => !left.has(path)))])
      .filter(([, entries]) => Object.keys(entries as object).length > 0),
  ) as Differences
  return isEmpty(changes) ? null : { ...operation, changes }
}
