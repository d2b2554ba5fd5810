import { isEqualJson, isJsonObject, itemsOf, type Json, type JsonObject } from '../../base/json.ts'
import type { Change } from '../plan.ts'
import { hasMark, type Marked, markedItems, markedMember } from '../value-marks.ts'
import type { DocumentAttribute, DocumentPath } from './plan-document.ts'

/** Two values of one attribute, at least one of which is a scalar or empty. */
export interface Difference {
  path: DocumentPath
  change: DocumentAttribute['change']
  before: Marked
  after: Marked
  isSensitive: boolean
  isUnknown: boolean
}

/** Receiver of the results of a comparison. */
interface Comparison {
  differs(difference: Difference): void
  /** Receives an attribute that is the same on both sides, unless it is null. */
  same(difference: Difference): void
}

const NOTHING: Marked = { value: null, sensitive: undefined, unknown: undefined }

/**
 * Compares an object before and after a change by attribute. Items common to two lists in the same order are equal at
 * any index, so an insertion is one difference. Returns whether some parts were nested too deep to compare.
 */
export function compareChange(change: Change, found: Comparison): { clipped: boolean } {
  const before = clipDepth(change.before, null)
  const after = clipDepth(change.after, null)
  const unknown = clipDepth(change.after_unknown, true).value
  compare(
    { value: before.value, sensitive: clipDepth(change.before_sensitive, true).value, unknown: undefined },
    { value: after.value, sensitive: clipDepth(change.after_sensitive, true).value, unknown },
    [],
    found,
  )
  return { clipped: before.clipped || after.clipped }
}

function compare(before: Marked, after: Marked, path: DocumentPath, found: Comparison): void {
  const isUnknown = after.unknown === true
  const isSensitive = before.sensitive === true || after.sensitive === true
  if (before.value === null && after.value === null && !hasMark(after.unknown)) return
  const shape = isUnknown || isSensitive ? null : shapeOf(before, after)
  if (shape === 'object') compareObjects(before, after, path, found)
  else if (shape === 'list') compareLists(before, after, path, found)
  else compareWhole({ path, before, after, isSensitive, isUnknown }, found)
}

/** Returns the common shape of two sides that have parts; null fits any shape. */
function shapeOf(before: Marked, after: Marked): 'object' | 'list' | null {
  const values = [before.value, after.value].filter((value) => value !== null)
  const known = values.length > 0 ? values : [after.unknown ?? null]
  if (known.every(Array.isArray)) return known.some((list) => list.length > 0) || hasMark(after.unknown) ? 'list' : null
  if (known.every(isJsonObject))
    return known.some((object) => Object.keys(object).length > 0) || hasMark(after.unknown) ? 'object' : null
  return null
}

function compareObjects(before: Marked, after: Marked, path: DocumentPath, found: Comparison): void {
  const keys = new Set([before.value, after.value, after.unknown ?? null].filter(isJsonObject).flatMap(Object.keys))
  for (const key of keys) compare(markedMember(before, key), markedMember(after, key), [...path, key], found)
}

function compareLists(before: Marked, after: Marked, path: DocumentPath, found: Comparison): void {
  const [old, now] = [itemParts(before), itemParts(after)]
  const shared = findShared(old, now)
  for (const index of shared.after) {
    const item = now[index] ?? NOTHING
    compare(item, { ...item, unknown: undefined }, [...path, index], found)
  }
  const left = [...old.entries()].filter(([index]) => !shared.before.has(index))
  const right = [...now.entries()].filter(([index]) => !shared.after.has(index))
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const [from, removed = NOTHING] = left[at] ?? []
    const [to, added = NOTHING] = right[at] ?? []
    compare(removed, added, [...path, to ?? from ?? at], found)
  }
}

/** Returns the items of a list; those that only the marks have are null. */
function itemParts({ value, sensitive, unknown }: Marked): Marked[] {
  const items = itemsOf(value)
  const more = Math.max(0, itemsOf(unknown).length - items.length)
  return markedItems({ value: [...items, ...Array.from({ length: more }, () => null)], sensitive, unknown })
}

function compareWhole(difference: Omit<Difference, 'change'>, found: Comparison): void {
  const { before, after, isUnknown } = difference
  const bothThere = before.value !== null && after.value !== null
  const isMarkedAnew = bothThere && (before.sensitive === true) !== (after.sensitive === true)
  if (isUnknown || isMarkedAnew || !isEqualJson(before.value, after.value)) {
    const removed = after.value === null && !isUnknown
    found.differs({ ...difference, change: before.value === null ? 'added' : removed ? 'removed' : 'changed' })
  } else if (before.value !== null) found.same({ ...difference, change: 'same' })
}

/**
 * Returns the indexes of the items that two lists share. The engine sorts sets in an order that insertions and removals
 * keep, so shared items are in the same order. If they are not, the order itself changed, and only the items at both
 * ends are shared.
 */
function findShared(before: readonly Marked[], after: readonly Marked[]): { before: Set<number>; after: Set<number> } {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && isSame(before[head], after[head])) head++
  let tail = 0
  while (tail < shorter - head && isSame(before.at(-1 - tail), after.at(-1 - tail))) tail++
  const endsOf = ({ length }: readonly Marked[]) =>
    new Set(Array.from({ length }, (_, index) => index).filter((index) => index < head || index >= length - tail))
  const ends = { before: endsOf(before), after: endsOf(after) }
  const found = { before: new Set(ends.before), after: new Set(ends.after) }
  const waiting = Map.groupBy([...before.keys()].filter((index) => !ends.before.has(index)).reverse(), (index) =>
    JSON.stringify(before[index]?.value),
  )
  let last = -1
  for (const [index, { value, unknown }] of after.entries()) {
    if (ends.after.has(index) || hasMark(unknown)) continue
    const match = waiting.get(JSON.stringify(value))?.pop()
    if (match === undefined) continue
    if (match < last) return ends
    last = match
    found.before.add(match)
    found.after.add(index)
  }
  return found
}

const isSame = (before: Marked | undefined, after: Marked | undefined): boolean =>
  before !== undefined && after !== undefined && !hasMark(after.unknown) && isEqualJson(before.value, after.value)

/** Deepest nesting that is compared. */
const MAX_DEPTH = 50

/**
 * Replaces parts of a value that are nested deeper than `MAX_DEPTH`, so that recursion cannot overflow the stack.
 * `clipped` is true if there were some.
 */
export function clipDepth(value: Json, substitute: Json): { value: Json; clipped: boolean } {
  return isDeep(value, 0) ? { value: clip(value, substitute, 0), clipped: true } : { value, clipped: false }
}

const isNested = (value: Json): value is Json[] | JsonObject => Array.isArray(value) || isJsonObject(value)

function isDeep(value: Json, depth: number): boolean {
  if (!isNested(value)) return false
  if (depth >= MAX_DEPTH) return true
  const parts = Array.isArray(value) ? value : Object.values(value)
  return parts.some((part) => isDeep(part, depth + 1))
}

function clip(value: Json, substitute: Json, depth: number): Json {
  if (!isNested(value)) return value
  if (depth >= MAX_DEPTH) return substitute
  if (Array.isArray(value)) return value.map((item) => clip(item, substitute, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clip(item, substitute, depth + 1)]))
}
