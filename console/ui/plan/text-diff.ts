import { diffArrays } from 'diff'

/** A part of a text: in both versions, or only in the earlier or the later one. */
export interface Piece {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** The maximum number of differences for a comparison of words or lines. */
const MAX_EDITS = 1_000
const CONTEXT = 3

/** Returns the differences of two texts in words. */
export const diffWords = (before: string, after: string): Piece[] => diffList(words(before), words(after), '')

/** Returns the differences line by line; a long unchanged part becomes one `same` piece that begins with `…`. */
export const diffLines = (before: string, after: string): Piece[] =>
  fold(diffList(before.split('\n'), after.split('\n'), '\n'))

/** Returns the unchanged share of the longer text, from 0 to 1. Marks in texts with little in common only confuse. */
export function likeness(pieces: readonly Piece[]): number {
  const length = (kind: Piece['kind']) =>
    pieces.filter((piece) => piece.kind === kind).reduce((sum, { text }) => sum + text.length, 0)
  const same = length('same')
  const longer = same + Math.max(length('removed'), length('added'))
  return longer === 0 ? 1 : same / longer
}

const words = (text: string): string[] => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? []

function diffList(before: readonly string[], after: readonly string[], between: string): Piece[] {
  const parts = diffArrays([...before], [...after], { maxEditLength: MAX_EDITS }) ?? [
    { value: [...before], removed: true, added: false },
    { value: [...after], removed: false, added: true },
  ]
  return parts
    .filter(({ value }) => value.length > 0)
    .map(({ value, added, removed }) => ({
      kind: added ? 'added' : removed ? 'removed' : 'same',
      text: value.join(between),
    }))
}

const fold = (pieces: readonly Piece[]): Piece[] =>
  pieces.flatMap((piece, index): Piece[] => {
    if (piece.kind !== 'same') return [piece]
    const lines = piece.text.split('\n')
    const head = index === 0 ? 0 : CONTEXT
    const tail = index === pieces.length - 1 ? 0 : CONTEXT
    const hidden = lines.length - head - tail
    if (hidden < 3) return [piece]
    const kept = [lines.slice(0, head), [`… ${hidden} lines stay the same`], tail > 0 ? lines.slice(-tail) : []]
    return kept.filter((part) => part.length > 0).map((part) => ({ kind: 'same', text: part.join('\n') }))
  })
