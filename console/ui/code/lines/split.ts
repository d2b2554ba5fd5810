import type { Row } from './rows.ts'

/** Two lines that stand beside each other. A line that is the same on both sides stands in both. */
export interface SplitLine {
  left: Row | null
  right: Row | null
}

/** Puts the lines of a diff beside each other: those of a pair in one row, the others with an empty place. */
export function splitRows(rows: readonly Row[], pairs: ReadonlyMap<Row, Row>): SplitLine[] {
  const lines: SplitLine[] = []
  const waiting: Row[] = []
  const flush = (until?: Row) => {
    while (waiting.length > 0) {
      const right = waiting[0] as Row
      if (right === until) return
      waiting.shift()
      lines.push({ left: null, right })
    }
  }
  for (let start = 0; start < rows.length; ) {
    const row = rows[start] as Row
    if (row.kind === 'same') {
      lines.push({ left: row, right: row })
      start += 1
      continue
    }
    let end = start
    while (end < rows.length && rows[end]?.kind !== 'same') end += 1
    const stretch = rows.slice(start, end)
    waiting.push(...stretch.filter(({ kind }) => kind === 'added'))
    for (const left of stretch.filter(({ kind }) => kind === 'removed')) {
      const right = pairs.get(left) ?? null
      if (right) {
        flush(right)
        waiting.shift()
      }
      lines.push({ left, right })
    }
    flush()
    start = end
  }
  return lines
}
