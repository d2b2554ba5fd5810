import { readHcl } from '../../../src/hcl/read.ts'

interface Line {
  /** The line as in the diff, with its sign. */
  text: string
  /** The number of the line on either side, or of the next one there. */
  old: number
  new: number
}

/** Returns the block of a resource, or its module's call, from a diff with full context; null if it is unchanged. */
export function blockOf(diff: string, address: string): string | null {
  const lines = readLines(diff)
  const sides = [readBlocks(lines, '-'), readBlocks(lines, '+')]
  for (const header of headersOf(address)) {
    const ranges = sides.flatMap((blocks) => blocks.filter((block) => block.header === header).slice(0, 1))
    if (ranges.length === 0) continue
    const first = Math.min(...ranges.map(({ from }) => from))
    const part = lines.slice(first, Math.max(...ranges.map(({ to }) => to)) + 1)
    return part.some(({ text }) => text[0] !== ' ') ? toDiff(part) : null
  }
  return null
}

function readLines(diff: string): Line[] {
  const lines: Line[] = []
  let at: { old: number; new: number } | null = null
  for (const text of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text)
    if (hunk) {
      at = { old: Number(hunk[1]), new: Number(hunk[2]) }
    } else if (at && /^[ +-]/.test(text)) {
      lines.push({ text, ...at })
      if (text[0] !== '+') at.old += 1
      if (text[0] !== '-') at.new += 1
    }
  }
  return lines
}

/** Returns the possible headers of the block, the likeliest first. */
function headersOf(address: string): string[] {
  const names = address.replaceAll(/\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g, '').split('.')
  const modules: string[] = []
  while (names[0] === 'module' && names.length > 2) modules.unshift(names.splice(0, 2)[1] ?? '')
  const kind = names[0] === 'data' ? names.shift() : 'resource'
  const [type = '', name = ''] = names
  return [`${kind} ${type} ${name}`, ...modules.map((module) => `module ${module}`)]
}

/** Returns the closed blocks on one side, with the indexes of their first and last line in `lines`. */
function readBlocks(lines: readonly Line[], side: '-' | '+'): { header: string; from: number; to: number }[] {
  const indexes = lines.flatMap(({ text }, index) => (text[0] === ' ' || text[0] === side ? [index] : []))
  const code = indexes.map((index) => lines[index]?.text.slice(1)).join('\n')
  return readHcl(code)
    .body.blocks.filter(({ end, bodyEnd }) => end > bodyEnd)
    .map(({ type, labels, line, start, end }) => ({
      header: [type, ...labels].join(' '),
      from: indexes[line - 1] ?? 0,
      to: indexes[line - 2 + code.slice(start, end).split('\n').length] ?? 0,
    }))
}

function toDiff(part: readonly Line[]): string {
  const count = (other: string) => part.filter(({ text }) => text[0] !== other).length
  const [first] = part
  return [
    `@@ -${first?.old ?? 1},${count('+')} +${first?.new ?? 1},${count('-')} @@`,
    ...part.map(({ text }) => text),
    '',
  ].join('\n')
}
