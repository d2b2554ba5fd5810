export interface Row {
  kind: 'same' | 'added' | 'removed'
  /** The line numbers before and after, counted from 1; null on a side without the line. */
  before: number | null
  after: number | null
  text: string
  /** True for the last line of a file that does not end with a line break. */
  unended?: true
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/
const KINDS: Record<string, Row['kind']> = { '+': 'added', '-': 'removed' }

/** Reads a unified diff of one file. The counts of the hunk are ignored, because masking may have joined lines. */
export function readDiff(diff: string): Row[] {
  const lines = splitLines(diff).lines
  const first = lines.findIndex((line) => HUNK.test(line))
  if (first < 0) return []
  const rows: Row[] = []
  const next = { before: 1, after: 1 }
  for (const line of lines.slice(first)) {
    const hunk = HUNK.exec(line)
    const last = rows.at(-1)
    if (hunk) {
      // An empty side counts from 0.
      next.before = Math.max(1, Number(hunk[1]))
      next.after = Math.max(1, Number(hunk[2]))
    } else if (line.startsWith('\\')) {
      if (last) last.unended = true
    } else {
      const kind = KINDS[line[0] ?? ''] ?? 'same'
      const text = /^[ +-]/.test(line) ? line.slice(1) : line
      rows.push(numbered(kind, text, next))
    }
  }
  return withoutReturns(rows)
}

/** Returns a text as rows of one kind. */
export function readWhole(text: string, kind: Row['kind'] = 'same'): Row[] {
  const { lines, ended } = splitLines(text)
  const next = { before: 1, after: 1 }
  const rows = lines.map((line) => numbered(kind, line, next))
  const last = rows.at(-1)
  if (last && !ended) last.unended = true
  return withoutReturns(rows)
}

/** Returns a row and advances the line numbers. */
function numbered(kind: Row['kind'], text: string, next: { before: number; after: number }): Row {
  const before = kind === 'added' ? null : next.before++
  const after = kind === 'removed' ? null : next.after++
  return { kind, before, after, text }
}

function splitLines(text: string): { lines: string[]; ended: boolean } {
  const lines = text.split('\n')
  const ended = lines.at(-1) === ''
  return { lines: ended ? lines.slice(0, -1) : lines, ended }
}

/** Removes carriage returns if every line ends with one. Otherwise they are shown. */
function withoutReturns(rows: Row[]): Row[] {
  if (!rows.every(({ text, unended }) => unended || text.endsWith('\r'))) return rows
  return rows.map((row) => ({ ...row, text: row.text.replace(/\r$/, '') }))
}

export const sideOf = (rows: readonly Row[], side: 'before' | 'after'): Row[] =>
  rows.filter((row) => row[side] !== null)

export const countChanges = (rows: readonly Row[]): { added: number; removed: number } => ({
  added: rows.filter(({ kind }) => kind === 'added').length,
  removed: rows.filter(({ kind }) => kind === 'removed').length,
})
