/** A piece of a text: in both, only in the earlier one, or only in the later one. */
export interface Piece {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Comparisons of pieces above this are not made; what lies between the common ends is then one piece. */
const MAX_COMPARISONS = 250_000
const CONTEXT = 3

/** What of one text became what of the other, in words. */
export function diffWords(before: string, after: string): Piece[] {
  return join(diffList(words(before), words(after)), '')
}

/** Line by line; long stretches that stay are replaced by one `same` piece that begins with `…`. */
export function diffLines(before: string, after: string): Piece[] {
  return fold(diffList(before.split('\n'), after.split('\n')))
}

/** How much of the longer text stays, from 0 to 1. Marks inside of texts that have little in common only confuse. */
export function likeness(pieces: readonly Piece[]): number {
  const length = (kind: Piece['kind']) =>
    pieces.filter((piece) => piece.kind === kind).reduce((sum, { text }) => sum + text.length, 0)
  const same = length('same')
  const longer = same + Math.max(length('removed'), length('added'))
  return longer === 0 ? 1 : same / longer
}

const words = (text: string): string[] => text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) ?? []

function diffList(before: readonly string[], after: readonly string[]): Piece[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++
  const same = (list: readonly string[]): Piece[] => list.map((text) => ({ kind: 'same', text }))
  return [
    ...same(before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ]
}

/** The longest common subsequence, by its table of lengths. */
function diffMiddle(before: readonly string[], after: readonly string[]): Piece[] {
  const removed = before.map((text): Piece => ({ kind: 'removed', text }))
  const added = after.map((text): Piece => ({ kind: 'added', text }))
  if (before.length * after.length > MAX_COMPARISONS) return [...removed, ...added]
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pieces: Piece[] = []
  let i = 0
  let j = 0
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      pieces.push({ kind: 'same', text: before[i++] as string })
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) pieces.push(removed[i++] as Piece)
    else pieces.push(added[j++] as Piece)
  }
  return [...pieces, ...removed.slice(i), ...added.slice(j)]
}

function join(pieces: readonly Piece[], between: string): Piece[] {
  const joined: Piece[] = []
  for (const { kind, text } of pieces) {
    const last = joined.at(-1)
    if (last?.kind === kind) last.text += between + text
    else joined.push({ kind, text })
  }
  return joined
}

function fold(pieces: readonly Piece[]): Piece[] {
  return join(pieces, '\n').flatMap((piece, index, all): Piece[] => {
    if (piece.kind !== 'same') return [piece]
    const lines = piece.text.split('\n')
    const head = index === 0 ? 0 : CONTEXT
    const tail = index === all.length - 1 ? 0 : CONTEXT
    const hidden = lines.length - head - tail
    if (hidden < 3) return [piece]
    const kept: (Piece | null)[] = [
      head > 0 ? { kind: 'same', text: lines.slice(0, head).join('\n') } : null,
      { kind: 'same', text: `… ${hidden} lines stay the same` },
      tail > 0 ? { kind: 'same', text: lines.slice(-tail).join('\n') } : null,
    ]
    return kept.filter((given) => given !== null)
  })
}
