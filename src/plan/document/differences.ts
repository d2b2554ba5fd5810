import { isEqualJson, isJsonObject, type Json, memberOf } from '../../base/json.ts'
import type { Change } from '../plan.ts'
import { hasMark, itemMarks, memberMarks } from '../value-marks.ts'
import { clipDepth } from './limits.ts'
import type { DocumentAttribute, DocumentPath } from './plan-document.ts'

/** Two values of one attribute, at least one of which is a scalar or empty. */
export interface Difference {
  path: DocumentPath
  change: DocumentAttribute['change']
  before: Part
  after: Part
  isSensitive: boolean
  isUnknown: boolean
}

/** Receiver of the results of a comparison. */
interface Comparison {
  differs(difference: Difference): void
  /** Receives an attribute that is the same on both sides, unless it is null. */
  same(difference: Difference): void
}

const NOTHING: Part = { value: null, sensitive: undefined, unknown: undefined }

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

function compare(before: Part, after: Part, path: DocumentPath, found: Comparison): void {
  const isUnknown = after.unknown === true
  const isSensitive = before.sensitive === true || after.sensitive === true
  if (before.value === null && after.value === null && !hasMark(after.unknown)) return
  const shape = isUnknown || isSensitive ? null : shapeOf(before, after)
  if (shape === 'object') compareObjects(before, after, path, found)
  else if (shape === 'list') compareLists(before, after, path, found)
  else compareWhole(before, after, path, found)
}

/** Returns the common shape of two sides that have parts; null fits any shape. */
function shapeOf(before: Part, after: Part): 'object' | 'list' | null {
  const values = [before.value, after.value].filter((value) => value !== null)
  const known = values.length > 0 ? values : [after.unknown ?? null]
  if (known.every(Array.isArray)) return known.some((list) => list.length > 0) || hasMark(after.unknown) ? 'list' : null
  if (known.every(isJsonObject))
    return known.some((object) => Object.keys(object).length > 0) || hasMark(after.unknown) ? 'object' : null
  return null
}

function compareObjects(before: Part, after: Part, path: DocumentPath, found: Comparison): void {
  const keys = new Set([before.value, after.value, after.unknown ?? null].filter(isJsonObject).flatMap(Object.keys))
  for (const key of keys) compare(memberPart(before, key), memberPart(after, key), [...path, key], found)
}

function compareLists(before: Part, after: Part, path: DocumentPath, found: Comparison): void {
  const { same, pairs } = alignLists(itemParts(before), itemParts(after))
  for (const { item, index } of same) compare(item, { ...item, unknown: undefined }, [...path, index], found)
  for (const pair of pairs) compare(pair.before ?? NOTHING, pair.after ?? NOTHING, [...path, pair.index], found)
}

const memberPart = ({ value, sensitive, unknown }: Part, key: string): Part => ({
  value: memberOf(value, key) ?? null,
  sensitive: memberMarks(sensitive, key),
  unknown: memberMarks(unknown, key),
})

function itemParts({ value, sensitive, unknown }: Part): Part[] {
  const items = Array.isArray(value) ? value : []
  const length = Math.max(items.length, Array.isArray(unknown) ? unknown.length : 0)
  return Array.from({ length }, (_, index) => ({
    value: items[index] ?? null,
    sensitive: itemMarks(sensitive, index),
    unknown: itemMarks(unknown, index),
  }))
}

function compareWhole(before: Part, after: Part, path: DocumentPath, found: Comparison): void {
  const isUnknown = after.unknown === true
  const isSensitive = before.sensitive === true || after.sensitive === true
  const difference = { path, before, after, isSensitive, isUnknown }
  const bothThere = before.value !== null && after.value !== null
  const isMarkedAnew = bothThere && (before.sensitive === true) !== (after.sensitive === true)
  if (isUnknown || isMarkedAnew || !isEqualJson(before.value, after.value)) {
    const removed = after.value === null && !isUnknown
    found.differs({ ...difference, change: before.value === null ? 'added' : removed ? 'removed' : 'changed' })
  } else if (before.value !== null) found.same({ ...difference, change: 'same' })
}

/** The common items of two lists, and the rest to compare. */
interface Alignment {
  same: { item: Part; index: number }[]
  /** Pairs to compare; `index` is that of `after`, or of `before` for a removed item. */
  pairs: { before?: Part; after?: Part; index: number }[]
}

interface Item {
  part: Part
  index: number
}

/**
 * Aligns the items that two lists share. The engine sorts sets in an order that insertions and removals keep, so shared
 * items are in the same order. If they are not, the order itself changed and items are compared by position.
 */
function alignLists(before: readonly Part[], after: readonly Part[]): Alignment {
  const alignment: Alignment = { same: [], pairs: [] }
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && isSame(before[head], after[head])) head++
  let tail = 0
  while (tail < shorter - head && isSame(before.at(-1 - tail), after.at(-1 - tail))) tail++
  keepSame(alignment, after.slice(0, head), 0)
  keepSame(alignment, after.slice(after.length - tail), after.length - tail)
  const left = numbered(before.slice(head, before.length - tail), head)
  const right = numbered(after.slice(head, after.length - tail), head)
  const shared = findShared(left, right)
  for (const { part, index } of right) if (shared.after.has(index)) alignment.same.push({ item: part, index })
  pairUp(
    alignment,
    left.filter(({ index }) => !shared.before.has(index)),
    right.filter(({ index }) => !shared.after.has(index)),
  )
  return alignment
}

const isSame = (before: Part | undefined, after: Part | undefined): boolean =>
  before !== undefined && after !== undefined && !hasMark(after.unknown) && isEqualJson(before.value, after.value)

function keepSame({ same }: Alignment, items: readonly Part[], from: number): void {
  for (const [offset, item] of items.entries()) same.push({ item, index: from + offset })
}

const numbered = (parts: readonly Part[], from: number): Item[] =>
  parts.map((part, offset) => ({ part, index: from + offset }))

/** Returns the indexes of shared items in both lists; none when their order differs. */
function findShared(left: readonly Item[], right: readonly Item[]): { before: Set<number>; after: Set<number> } {
  const none = { before: new Set<number>(), after: new Set<number>() }
  if (left.length === 0 || right.length === 0) return none
  const waiting = Map.groupBy(left.toReversed(), ({ part }) => JSON.stringify(part.value))
  const found = { before: new Set<number>(), after: new Set<number>() }
  let last = -1
  for (const { part, index } of right) {
    const match = hasMark(part.unknown) ? undefined : waiting.get(JSON.stringify(part.value))?.pop()?.index
    if (match === undefined) continue
    if (match < last) return none
    last = match
    found.before.add(match)
    found.after.add(index)
  }
  return found
}

function pairUp({ pairs }: Alignment, left: readonly Item[], right: readonly Item[]): void {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const before = left[at]
    const after = right[at]
    pairs.push({
      ...(before && { before: before.part }),
      ...(after && { after: after.part }),
      index: after?.index ?? before?.index ?? at,
    })
  }
}

/** A value with its sensitive and unknown marks. */
export interface Part {
  value: Json
  sensitive: Json | undefined
  unknown: Json | undefined
}
