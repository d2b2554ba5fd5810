interface Line {
  /** As in the diff, with its sign. */
  text: string
  /** Numbers of the line on either side, or of the next one there. */
  old: number
  new: number
}

/**
 * The part of a diff with full context that is the block of one resource, as a diff of its own; null when the block is
 * not in this file, or did not change. A resource of a module may be the block in the module, or the call of it.
 */
export function blockOf(diff: string, address: string): string | null {
  const lines = readLines(diff)
  for (const header of headersOf(address)) {
    const ranges = [rangeOf(lines, '-', header), rangeOf(lines, '+', header)].filter((range) => range !== null)
    if (ranges.length === 0) continue
    const from = Math.min(...ranges.map(([start]) => start))
    const part = lines.slice(from, Math.max(...ranges.map(([, end]) => end)) + 1)
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

/** The words with which the block may begin, the likeliest first. */
function headersOf(address: string): string[] {
  const names = address.replaceAll(/\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g, '').split('.')
  const modules: string[] = []
  while (names[0] === 'module' && names.length > 2) modules.unshift(names.splice(0, 2)[1] ?? '')
  const kind = names[0] === 'data' ? names.shift() : 'resource'
  const [type = '', name = ''] = names
  return [`${kind} ${type} ${name}`, ...modules.map((module) => `module ${module}`)]
}

const wordsBefore = (code: string): string =>
  (code.split('{', 1)[0] ?? '').replaceAll('"', '').trim().split(/\s+/).join(' ')

/** First and last index of the block on one side; the lines of the other side are passed over. */
function rangeOf(lines: readonly Line[], side: '-' | '+', header: string): [number, number] | null {
  let start = -1
  let heredoc: string | null = null
  for (const [index, { text }] of lines.entries()) {
    if (text[0] !== ' ' && text[0] !== side) continue
    const code = text.slice(1).trimEnd()
    if (start < 0) {
      if (!code.includes('{') || wordsBefore(code) !== header) continue
      start = index
      if (/\{.*\}$/.test(code)) return [start, index]
    } else if (heredoc !== null) {
      if (code.trim() === heredoc) heredoc = null
    } else {
      heredoc = /<<[-~]?"?([A-Za-z_]\w*)"?$/.exec(code)?.[1] ?? null
      // The formatter of the engine puts the end of a block at the beginning of its line.
      if (code === '}') return [start, index]
    }
  }
  return null
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
