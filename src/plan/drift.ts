import { isEqualJson, isJsonObject, type Json } from '../base/json.ts'
import { MASK, type Masker, maskFlagged } from '../base/masking.ts'
import { appendStep } from './addresses.ts'
import type { Change, Plan, ResourceChange } from './plan.ts'
import { maskerOf } from './sensitive.ts'
import { withoutStateArguments } from './state-arguments.ts'
import { type Marked, markedItems, markedMember } from './value-marks.ts'

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
export function driftOperations(plan: Plan, masker: Pick<Masker, 'json'> = maskerOf(plan)): DriftOperation[] {
  return plan.resource_changes.flatMap((resource) => {
    if (resource.mode === 'data' || resource.deposed !== undefined) return []
    return invertChange(resource.address, withoutStateArguments(resource), masker) ?? []
  })
}

/** Does the same without masks, for comparisons by code alone. */
export const unmaskedOperations = (plan: Plan): DriftOperation[] =>
  driftOperations({ ...plan, resource_changes: plan.resource_changes.map(withoutSensitiveMarks) }, NO_MASKS)

const NO_MASKS = { json: (value: Json) => value }

const withoutSensitiveMarks = (resource: ResourceChange): ResourceChange => ({
  ...resource,
  change: { ...resource.change, before_sensitive: null, after_sensitive: null },
})

function invertChange(address: string, change: Change, masker: Pick<Masker, 'json'>): DriftOperation | null {
  const { actions } = change
  const mask = (value: Json) => masker.json(value)
  const creates = actions.includes('create')
  const deletes = actions.includes('delete')
  if (actions.includes('update') || (creates && deletes)) {
    // From code to cloud; values known only after the apply are skipped.
    const changes = findDifferences(
      { value: change.after, sensitive: change.after_sensitive, unknown: change.after_unknown },
      { value: change.before, sensitive: change.before_sensitive },
      mask,
    )
    return isEmpty(changes) ? null : { address, action: 'update resource', changes }
  }
  if (creates) return { address, action: 'delete resource' }
  if (!deletes) return null
  return { address, action: 'create resource', changes: mask(maskFlagged(change.before, change.before_sensitive)) }
}

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
  const facts = listDifferences(operation.changes).map(({ path, from, to }): DriftFact => {
    const text = `${sideOf(from, 'in the code')}, ${sideOf(to, 'in the infrastructure')}`
    return { attribute: path, text: path === '' ? text : `${path}: ${text}` }
  })
  if (facts.length <= MAX_FACTS) return facts
  return [...facts.slice(0, MAX_FACTS), { attribute: '', text: `and ${facts.length - MAX_FACTS} more differences` }]
}

/** Describes in one line how code and infrastructure differ, masked like the operation. */
export const describeDifference = (operation: DriftOperation): string =>
  `${operation.address}: ${driftFacts(operation)
    .map(({ text }) => text)
    .join('; ')}`

const sideOf = (value: Json | undefined, place: string): string =>
  value === undefined ? `not ${place}` : `${renderValue(value)} ${place}`

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
  const show = (value: Json | undefined) => (value === undefined ? 'unset' : renderValue(value))
  const steps = listDifferences(operation.changes).map(({ path, from, to }) => `${path} ${show(from)} → ${show(to)}`)
  const more = steps.length - MAX_LISTED
  const listed = [...steps.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return `${operation.address}: ${listed}, as the infrastructure has it${place}`
}

/** Returns the part of an operation that a later reading of its address lacks; null when all of it remains. */
export function vanishedPart(operation: DriftOperation, later: DriftOperation | undefined): DriftOperation | null {
  if (later === undefined) return operation
  if (operation.action !== 'update resource' || later.action !== 'update resource') return null
  const left = new Set(Object.values(later.changes).flatMap((entries) => Object.keys(entries)))
  return keepPaths(operation, (path) => !left.has(path))
}

/** Cuts an update to the attributes whose paths are kept; null when none is left. */
export function keepPaths<Operation extends Extract<DriftOperation, { action: 'update resource' }>>(
  operation: Operation,
  isKept: (path: string) => boolean,
): Operation | null {
  const changes = Object.fromEntries(
    Object.entries(operation.changes)
      .map(([kind, entries]) => [kind, Object.fromEntries(Object.entries(entries).filter(([path]) => isKept(path)))])
      .filter(([, entries]) => Object.keys(entries as object).length > 0),
  ) as Differences
  return isEmpty(changes) ? null : { ...operation, changes }
}

/** Differences by path, for example `tags["a b"].list[2]`; the empty path stands for the whole value. */
interface Differences {
  changed?: Record<string, { old_value: Json; new_value: Json }>
  added?: Record<string, Json>
  removed?: Record<string, Json>
}

/** A value to compare, with marks nested like it. Unknown values are not compared. */
type Side = Pick<Marked, 'value'> & Partial<Marked>

/**
 * Finds the changes from `from` to `to`. Sensitive values are masked, unknown ones are skipped, null counts as absent.
 * Equal items at both ends of two lists are skipped, so an inserted item is one addition.
 * @param mask also hides what other places mark sensitive
 */
export function findDifferences(from: Side, to: Side, mask = (value: Json) => value): Differences {
  // Without prototypes, because a path may be any map key, including `__proto__`.
  const differences: Required<Differences> = {
    changed: Object.create(null),
    added: Object.create(null),
    removed: Object.create(null),
  }
  const { changed, added, removed } = differences
  const noMarks = { sensitive: undefined, unknown: undefined }
  for (const { path, from: old_value, to: new_value } of compare({ ...noMarks, ...from }, { ...noMarks, ...to }, ''))
    if (old_value === undefined) added[path] = mask(new_value ?? null)
    else if (new_value === undefined) removed[path] = mask(old_value)
    else changed[path] = { old_value: mask(old_value), new_value: mask(new_value) }
  return Object.fromEntries(Object.entries(differences).filter(([, entries]) => Object.keys(entries).length > 0))
}

/** Lists the changed values, then the added and the removed ones; a side that has none is undefined. */
export const listDifferences = ({ changed = {}, added = {}, removed = {} }: Differences): PathDifference[] => [
  ...Object.entries(changed).map(([path, { old_value, new_value }]) => ({ path, from: old_value, to: new_value })),
  ...Object.entries(added).map(([path, to]) => ({ path, to })),
  ...Object.entries(removed).map(([path, from]) => ({ path, from })),
]

interface PathDifference {
  path: string
  from?: Json
  to?: Json
}

const isEmpty = (differences: Differences): boolean => Object.keys(differences).length === 0

function* compare(from: Marked, to: Marked, path: string): Generator<PathDifference> {
  if (from.unknown === true || to.unknown === true || isEqualJson(from.value, to.value)) return
  const isSensitive = from.sensitive === true || to.sensitive === true
  if (!isSensitive && isJsonObject(from.value) && isJsonObject(to.value)) {
    for (const key of new Set([...Object.keys(from.value), ...Object.keys(to.value)]))
      yield* compare(markedMember(from, key), markedMember(to, key), appendStep(path, key))
  } else if (!isSensitive && Array.isArray(from.value) && Array.isArray(to.value)) {
    yield* compareLists(markedItems(from), markedItems(to), path)
  } else
    yield {
      path,
      ...(from.value !== null && { from: maskSensitive(from, isSensitive) }),
      ...(to.value !== null && { to: maskSensitive(to, isSensitive) }),
    }
}

function* compareLists(left: readonly Marked[], right: readonly Marked[], path: string): Generator<PathDifference> {
  const shorter = Math.min(left.length, right.length)
  let head = 0
  while (head < shorter && isEqualJson(left[head]?.value, right[head]?.value)) head++
  let tail = 0
  while (tail < shorter - head && isEqualJson(left.at(-1 - tail)?.value, right.at(-1 - tail)?.value)) tail++
  const absent: Marked = { value: null, sensitive: undefined, unknown: undefined }
  for (let index = head; index < Math.max(left.length, right.length) - tail; index++) {
    const from = index < left.length - tail ? left[index] : undefined
    const to = index < right.length - tail ? right[index] : undefined
    yield* compare(from ?? absent, to ?? absent, appendStep(path, index))
  }
}

/** Masks every sensitive part of a value. */
function maskSensitive(side: Marked, hidden: boolean): Json {
  if (hidden || side.sensitive === true) return MASK
  if (Array.isArray(side.value)) return markedItems(side).map((item) => maskSensitive(item, false))
  if (!isJsonObject(side.value)) return side.value
  return Object.fromEntries(Object.keys(side.value).map((key) => [key, maskSensitive(markedMember(side, key), false)]))
}
