import { isEqualJson, type Json } from '../../base/json.ts'
import { hasMark } from '../value-marks.ts'

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
export function alignLists(before: readonly Part[], after: readonly Part[]): Alignment {
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
  const waiting = new Map<string, number[]>()
  for (const { part, index } of left.toReversed()) {
    const text = JSON.stringify(part.value)
    const indexes = waiting.get(text)
    if (indexes) indexes.push(index)
    else waiting.set(text, [index])
  }
  const found = { before: new Set<number>(), after: new Set<number>() }
  let last = -1
  for (const { part, index } of right) {
    const match = hasMark(part.unknown) ? undefined : waiting.get(JSON.stringify(part.value))?.pop()
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
