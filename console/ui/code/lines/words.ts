import { diffArrays } from 'diff'
import type { Row } from './rows.ts'

/** A part of a line; the end is exclusive. */
export type Range = readonly [from: number, to: number]

const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu
/** The length above which the words of a line are not compared. */
const MAX_LENGTH = 1_000
const MAX_EDITS = 150
/** The minimum share in common. Marks in lines with less would only confuse. */
const MIN_COMMON = 0.35

/** Returns the parts in which two lines differ; null when the lines are too different or too long. */
export function compareWords(before: string, after: string): { before: Range[]; after: Range[] } | null {
  if (before.length > MAX_LENGTH || after.length > MAX_LENGTH) return null
  const parts = diffArrays(before.match(WORD) ?? [], after.match(WORD) ?? [], { maxEditLength: MAX_EDITS })
  if (!parts) return null
  const ranges = { before: [] as Range[], after: [] as Range[] }
  const at = { before: 0, after: 0 }
  let common = 0
  for (const { value, added, removed } of parts) {
    const text = value.join('')
    if (!added && !removed) common += solid(text)
    if (added) ranges.after.push([at.after, at.after + text.length])
    if (removed) ranges.before.push([at.before, at.before + text.length])
    if (!added) at.before += text.length
    if (!removed) at.after += text.length
  }
  const longest = Math.max(solid(before), solid(after))
  if (longest > 0 && common / longest < MIN_COMMON) return null
  return { before: joinClose(ranges.before, before), after: joinClose(ranges.after, after) }
}

const solid = (text: string): number => text.replaceAll(/\s+/g, '').length

/** Joins marks that only a blank separates. */
function joinClose(ranges: readonly Range[], text: string): Range[] {
  const joined: Range[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last && text.slice(last[1], range[0]).trim() === '') joined[joined.length - 1] = [last[0], range[1]]
    else joined.push(range)
  }
  return joined
}

/** Splits rows into groups: unchanged ones, and the changed ones between them. */
function groupsOf(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last && (last[0]?.kind === 'same') === (row.kind === 'same')) last.push(row)
    else groups.push([row])
  }
  return groups
}

const sidesOf = (group: readonly Row[]) =>
  (['removed', 'added'] as const).map((side) => group.filter(({ kind }) => kind === side)) as [Row[], Row[]]

/** Pairs removed with added lines in each group: by order if there are as many of both, otherwise by argument. */
export function pairLines(rows: readonly Row[]): Map<Row, Row> {
  const pairs = new Map<Row, Row>()
  for (const group of groupsOf(rows)) {
    const [removed, added] = sidesOf(group)
    const isEven = removed.length === added.length
    const byKey = Map.groupBy(isEven ? [] : added.keys(), (index) => keyOf(added[index] as Row))
    let from = 0
    for (const [index, row] of removed.entries()) {
      const candidates = byKey.get(keyOf(row)) ?? []
      while (candidates[0] !== undefined && candidates[0] < from) candidates.shift()
      const match = isEven ? index : candidates[0]
      const other = match === undefined ? undefined : added[match]
      if (match === undefined || !other) continue
      from = match + 1
      pairs.set(row, other)
      pairs.set(other, row)
    }
  }
  return pairs
}

/** Returns the argument that a line sets or the block that it opens. */
function keyOf({ text }: Row): string {
  const line = text.trim().slice(0, MAX_LENGTH)
  return /^"?[\w.-]+"?(?=\s*[=:{])/.exec(line)?.[0] ?? line
}

/** Returns the changed parts of every paired line. */
export function markWords(rows: readonly Row[], pairs: ReadonlyMap<Row, Row>): Map<Row, Range[]> {
  const marks = new Map<Row, Range[]>()
  for (const row of rows) {
    const other = pairs.get(row)
    if (row.kind !== 'removed' || !other) continue
    const ranges = compareWords(row.text, other.text)
    if (!ranges) continue
    marks.set(row, ranges.before)
    marks.set(other, ranges.after)
  }
  return marks
}

/** A coloured part of a line. */
export interface Token {
  text: string
  /** The kind of the token; empty for no colour. */
  kind: string
}

interface Segment extends Token {
  /** True if it differs from the other version of the line. */
  marked: boolean
}

/** Splits the tokens of a line where a mark begins or ends. */
export function markTokens(tokens: readonly Token[], marks: readonly Range[]): Segment[] {
  const edges = marks.flat()
  const segments: Segment[] = []
  let at = 0
  for (const { text, kind } of tokens) {
    const end = at + text.length
    const cuts = [at, ...edges.filter((edge) => edge > at && edge < end), end]
    for (let index = 0; index + 1 < cuts.length; index += 1) {
      const from = cuts[index] as number
      const to = cuts[index + 1] as number
      const marked = marks.some((mark) => mark[0] <= from && to <= mark[1])
      if (to > from) segments.push({ text: text.slice(from - at, to - at), kind, marked })
    }
    at = end
  }
  return segments
}

/** Two lines side by side. An unchanged line is on both sides. */
interface SplitLine {
  left: Row | null
  right: Row | null
}

/** Arranges the lines of a diff side by side: pairs in one row, other lines beside an empty place. */
export function splitRows(rows: readonly Row[], pairs: ReadonlyMap<Row, Row>): SplitLine[] {
  const lines: SplitLine[] = []
  for (const group of groupsOf(rows)) {
    if (group[0]?.kind === 'same') {
      for (const row of group) lines.push({ left: row, right: row })
      continue
    }
    const [removed, added] = sidesOf(group)
    let next = 0
    const placeUntil = (end: number) => {
      for (; next < end; next += 1) lines.push({ left: null, right: added[next] as Row })
    }
    for (const left of removed) {
      const right = pairs.get(left) ?? null
      if (right) placeUntil(added.indexOf(right, next))
      if (right) next += 1
      lines.push({ left, right })
    }
    placeUntil(added.length)
  }
  return lines
}
