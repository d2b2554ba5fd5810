import type { Row } from './rows.ts'

/** Lines that are shown or folded; `to` is exclusive. */
export interface Piece {
  kind: 'shown' | 'folded'
  from: number
  to: number
  /** The start of the unchanged part, whose lines may have been opened. */
  stretch: number
}

/** The number of unchanged lines beside a change. */
const CONTEXT = 3
/** The minimum size of a fold. */
const MIN_FOLDED = 4

interface Unfolded {
  /** The number of opened lines, by the start of the fold. */
  opened?: ReadonlyMap<number, number>
  /** A line that must be shown with its context. */
  reveal?: number | null
  /** The maximum number of shown lines. */
  limit?: number
}

/**
 * Folds unchanged lines unless all are; `changed` marks the others. Also returns the number of lines beyond the limit.
 */
export function foldLines(
  changed: readonly boolean[],
  { opened = new Map(), reveal = null, limit = Number.POSITIVE_INFINITY }: Unfolded = {},
): { pieces: Piece[]; left: number } {
  const isFile = !changed.includes(true)
  const near = isFile ? changed.map(() => true) : nearChanges(changed, reveal)
  const pieces: Piece[] = []
  for (let from = 0; from < near.length; ) {
    let to = from
    while (to < near.length && near[to] === near[from]) to += 1
    const start = near[from] || to - from < MIN_FOLDED ? to : Math.min(to, from + (opened.get(from) ?? 0))
    append(pieces, { kind: 'shown', from, to: start, stretch: from })
    append(pieces, { kind: 'folded', from: start, to, stretch: from })
    from = to
  }
  return cut(pieces, limit)
}

function nearChanges(changed: readonly boolean[], reveal: number | null): boolean[] {
  const near = changed.map(() => false)
  const mark = (index: number) =>
    near.fill(true, Math.max(0, index - CONTEXT), Math.min(near.length, index + CONTEXT + 1))
  changed.forEach((is, index) => {
    if (is) mark(index)
  })
  if (reveal !== null && reveal >= 0) mark(reveal)
  return near
}

function append(pieces: Piece[], piece: Piece): void {
  if (piece.from === piece.to) return
  const last = pieces.at(-1)
  if (last?.kind === 'shown' && piece.kind === 'shown') last.to = piece.to
  else pieces.push(piece)
}

function cut(pieces: readonly Piece[], limit: number): { pieces: Piece[]; left: number } {
  const kept: Piece[] = []
  let room = limit
  let left = 0
  for (const piece of pieces) {
    const length = piece.to - piece.from
    if (room === 0) left += piece.kind === 'shown' ? length : 0
    else if (piece.kind === 'folded') kept.push(piece)
    else {
      const shown = Math.min(room, length)
      kept.push({ ...piece, to: piece.from + shown })
      left += length - shown
      room -= shown
    }
  }
  return { pieces: kept, left }
}

const BLOCK = /^[a-z][\w-]*(?:\s+(?:[\w-]+|"[^"]*"))*\s*\{\s*$/

/** Returns the top-level block that contains a line, such as `resource "aws_s3_bucket" "logs"`; null outside. */
export function blockAround(lines: readonly Pick<Row, 'text'>[], index: number): string | null {
  for (let line = index - 1; line >= 0 && index - line <= 500; line -= 1) {
    const text = (lines[line]?.text ?? '').slice(0, 200)
    if (text.startsWith('}')) return null
    if (BLOCK.test(text)) return text.replace(/\s*\{\s*$/, '')
  }
  return null
}
