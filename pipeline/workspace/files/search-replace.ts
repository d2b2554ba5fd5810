import { ToolError } from '../../../src/agent/agent-request.ts'

interface Block {
  search: string[]
  replace: string[]
  /** Line of the opening marker in the diff, from 1. */
  line: number
}

const SEARCH = '<<<<<<< SEARCH'
const DIVIDER = '======='
const REPLACE = '>>>>>>> REPLACE'
/** Of further blocks that do not fit only the place is reported. */
const MAX_EXPLAINED = 3
const MAX_PLACES = 10

/** The form of a block, for descriptions and refusals. */
export const BLOCK_FORM = [
  SEARCH,
  '<lines as they are in the file>',
  DIVIDER,
  '<lines to put there instead>',
  REPLACE,
].join('\n')

/**
 * Applies search/replace blocks in order. Each search text must occur exactly once in the text left by earlier blocks,
 * with line ends of either kind; lines that stay keep theirs, and new ones take that of the lines beside them. An empty
 * replacement also removes the line break. Errors: `ToolError` with number, line and nearest text of each block that
 * does not fit or changes nothing.
 */
export function searchReplace(text: string, diff: string): string {
  const fitting: number[] = []
  const faults: string[] = []
  let current = text
  for (const [index, block] of parseBlocks(diff).entries()) {
    const number = index + 1
    const applied = applyBlock(current, block, faults.length < MAX_EXPLAINED)
    if ('fault' in applied) faults.push(`Block ${number} (diff line ${block.line}): ${applied.fault}`)
    else {
      current = applied.text
      fitting.push(number)
    }
  }
  if (faults.length === 0 && current === text)
    throw new ToolError('The blocks undo each other, so that nothing would change. The file was not changed.')
  if (faults.length === 0) return current
  throw new ToolError([...faults, `${describeFitting(fitting)}The file was not changed.`].join('\n'))
}

/** Names the blocks that fit, so that the model corrects only the others; all have to be sent again. */
function describeFitting(numbers: readonly number[]): string {
  if (numbers.length === 0) return ''
  const [names, verb] =
    numbers.length === 1 ? [`Block ${numbers[0]}`, 'fits'] : [`Blocks ${joinNumbers(numbers)}`, 'fit']
  return `${names} ${verb}: send all blocks again in one call, with the others corrected. `
}

function applyBlock(text: string, block: Block, explain: boolean) {
  const search = block.search.join('\n')
  const plain = text.replaceAll('\r\n', '\n')
  const at = plain.indexOf(search)
  if (at < 0) {
    const fault = 'the search text does not occur in the file'
    return { fault: explain ? `${fault}; ${describeMiss(text, block)}` : `${fault}.` }
  }
  if (search === block.replace.join('\n'))
    return {
      fault:
        'the replacement is the same as the search text, so that nothing would change: put the new lines between ' +
        `\`${DIVIDER}\` and \`${REPLACE}\`, or leave the block out.`,
    }
  if (plain.indexOf(search, at + 1) >= 0)
    return {
      fault:
        `the search text occurs more than once, ${describePlaces(plain, search)}; add lines around it until it is ` +
        'unique.',
    }
  const isWholeLine = block.replace.length === 0 && plain.startsWith('\n', at + search.length)
  const [start, end] = [at, at + search.length + (isWholeLine ? 1 : 0)].map((offset) => offsetIn(text, offset))
  const found = text.slice(start, end)
  return { text: text.slice(0, start) + withLineEnds(block, lineEndsOf(found), text) + text.slice(end) }
}

/** Returns where an offset of the text with plain line ends is in the text itself. */
function offsetIn(text: string, offset: number): number {
  let at = offset
  for (let end = text.indexOf('\r\n'); end >= 0 && end < at; end = text.indexOf('\r\n', end + 2)) at++
  return at
}

const lineEndsOf = (text: string): string[] => text.match(/\r?\n/g) ?? []

/** Joins the lines of a replacement: those that stay at both ends of the search text keep their line ends. */
function withLineEnds({ search, replace }: Block, ends: readonly string[], text: string): string {
  let head = 0
  while (head < replace.length && replace[head] === search[head]) head++
  let tail = 0
  while (tail < Math.min(replace.length, search.length) - head && replace.at(-1 - tail) === search.at(-1 - tail)) tail++
  const other = ends[Math.min(head, ends.length - 1)] ?? lineEndsOf(text)[0] ?? '\n'
  const endOf = (line: number): string => {
    if (line === replace.length - 1) return ''
    if (line < head) return ends[line] ?? other
    return line < replace.length - tail ? other : (ends[search.length - replace.length + line] ?? other)
  }
  return replace.map((line, index) => `${line}${endOf(index)}`).join('')
}

/** Describes the lines at which a text begins. */
function describePlaces(text: string, search: string): string {
  const lines: number[] = []
  let [line, from] = [1, 0]
  for (let at = text.indexOf(search); at >= 0 && lines.length <= MAX_PLACES; at = text.indexOf(search, at + 1)) {
    line += linesOf(text.slice(from, at)).length - 1
    from = at
    lines.push(line)
  }
  const more = lines.length > MAX_PLACES
  const shown = [...new Set(lines.slice(0, MAX_PLACES))]
  if (shown.length === 1 && !more) return `all in line ${shown[0]}`
  return `at lines ${more ? `${shown.join(', ')} and more` : joinNumbers(shown)}`
}

const joinNumbers = (numbers: readonly number[]): string =>
  numbers.length < 2 ? numbers.join() : `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`

function parseBlocks(diff: string): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  let part: 'search' | 'replace' = 'search'
  for (const [index, raw] of diff.split('\n').entries()) {
    const [line, text] = [index + 1, raw.replace(/\r$/, '')]
    const marker = text.trimEnd()
    if (open === null) {
      if (marker === '') continue
      if (marker !== SEARCH)
        throw malformed(blocks.length + 1, line, `expected \`${SEARCH}\`, found ${describeStray(marker)}`)
      open = { search: [], replace: [], line }
      part = 'search'
    } else if (marker === SEARCH) throw malformed(blocks.length + 1, line, 'a block begins inside of another')
    else if (marker === DIVIDER) {
      if (part === 'replace') throw malformed(blocks.length + 1, line, `a second \`${DIVIDER}\` in one block`)
      part = 'replace'
    } else if (marker === REPLACE) {
      if (part === 'search') throw malformed(blocks.length + 1, line, `\`${DIVIDER}\` is missing`)
      if (open.search.join('').trim() === '') throw malformed(blocks.length + 1, open.line, 'the search text is empty')
      blocks.push(open)
      open = null
    } else open[part].push(text)
  }
  if (open !== null) throw malformed(blocks.length + 1, open.line, `the block is not closed by \`${REPLACE}\``)
  if (blocks.length === 0) throw malformed(1, 1, `no \`${SEARCH}\` block was found`)
  return blocks
}

/** Explains a unified diff, which models know best and send to tools of another format. */
const describeStray = (line: string): string =>
  /^(diff |index |--- |\+\+\+ |@@ )/.test(line)
    ? 'a line of a unified diff, a form that this tool does not take'
    : 'text outside of a block'

const malformed = (block: number, line: number, reason: string): ToolError =>
  new ToolError(
    `Block ${block} (diff line ${line}): ${reason}. The file was not changed. A block has these three marker ` +
      `lines:\n${BLOCK_FORM}`,
  )

const MAX_SHOWN = 12
const MAX_LINE_CHARS = 200
/** Minimum length, without blanks, of a single line that is unlikely to occur elsewhere by chance. */
const MIN_TELLING = 40
/** Minimum share of common letter groups for two texts to be alike. */
const ALIKE = 0.35
/** Maximum lines of a search text that are compared; more would not find another place. */
const MAX_COMPARED = 80
/** Letter groups in more lines of the file than this do not identify a place. */
const MAX_LINES_OF_GROUP = 64
const GROUP = 3

const linesOf = (text: string): string[] => text.split(/\r?\n/)

/**
 * Explains how a file differs from a search text that it lacks, so that the model need not read it again: only blanks
 * differ, the change is already made, or the nearest lines. To count as made, a replacement must be long enough,
 * unique, and where the search text is most likely meant. Takes time linear in the size of the file.
 * @returns the end of a sentence, perhaps followed by numbered lines
 */
function describeMiss(text: string, { search, replace }: Pick<Block, 'search' | 'replace'>): string {
  const file = linesOf(text)
  const wanted = trimBlankLines(search)
  const start = findRun(file, wanted, squeeze)
  if (start !== null) {
    const found = file.slice(start, start + wanted.length)
    return `only ${describeBlanks(found, wanted)}. The file has:\n${showLines(file, start, wanted)}`
  }
  const nearest = findNearest(file, wanted)
  const done = findDone(file, trimBlankLines(replace), { nearest, length: wanted.length })
  if (done !== null)
    return `the file already holds the replacement, at line ${done + 1}, so that this change seems to be made.`
  if (nearest === null) return 'nothing in the file is like it: read the file before you change it.'
  return `it must match exactly. The nearest lines (> marks those that differ):\n${showLines(file, nearest, wanted)}`
}

const trimEnd = (line: string) => line.trimEnd()
const squeeze = (line: string) => line.replaceAll(/\s+/g, '')
const isTelling = (lines: readonly string[]) =>
  lines.filter((line) => line.trim().length > 1).length > 1 || squeeze(lines.join('')).length >= MIN_TELLING

/** Returns the line of the replacement; null unless it is long, unique, and no other place is like the search. */
function findDone(
  file: readonly string[],
  replace: readonly string[],
  { nearest, length }: { nearest: number | null; length: number },
): number | null {
  if (!isTelling(replace)) return null
  const done = findRun(file, replace, trimEnd)
  if (done === null || findRun(file.slice(done + 1), replace, trimEnd) !== null) return null
  const isElsewhere = nearest !== null && (nearest >= done + replace.length || nearest + length <= done)
  return isElsewhere ? null : done
}

function trimBlankLines(lines: readonly string[]): string[] {
  const isBlank = (line: string) => line.trim() === ''
  const first = lines.findIndex((line) => !isBlank(line))
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1)
}

/** Returns the index of the first line at which all wanted lines follow each other; null when there is none. */
function findRun(file: readonly string[], wanted: readonly string[], form: (line: string) => string): number | null {
  const sought = wanted.map(form)
  if (sought.length === 0) return null
  const retries = retriesOf(sought)
  let matched = 0
  for (const [index, line] of file.entries()) {
    const current = form(line)
    while (matched > 0 && sought[matched] !== current) matched = retries[matched - 1] ?? 0
    if (sought[matched] === current) matched++
    if (matched === sought.length) return index - matched + 1
  }
  return null
}

/** Returns the failure table of Knuth, Morris and Pratt for lines, so that a search reads each line once. */
function retriesOf(sought: readonly string[]): number[] {
  const retries = [0]
  let matched = 0
  for (const line of sought.slice(1)) {
    while (matched > 0 && sought[matched] !== line) matched = retries[matched - 1] ?? 0
    if (sought[matched] === line) matched++
    retries.push(matched)
  }
  return retries
}

function describeBlanks(found: readonly string[], wanted: readonly string[]): string {
  const sameBy = (form: (line: string) => string) =>
    found.every((line, index) => form(line) === form(wanted[index] ?? ''))
  if (sameBy((line) => line)) return 'line ends or empty lines around the search text differ'
  if (sameBy(trimEnd)) return 'blanks at the ends of lines differ'
  if (sameBy((line) => line.trim())) return 'the indentation differs'
  return 'blanks differ'
}

/** Shows the lines of the file from `start` next to the wanted ones, from the first difference. */
function showLines(file: readonly string[], start: number, wanted: readonly string[]): string {
  const known = new Set(wanted)
  const length = Math.max(wanted.length, 1)
  const difference = Array.from({ length }, (_, index) => file[start + index]).findIndex(
    (line, index) => line !== wanted[index],
  )
  const skipped = length + 2 > MAX_SHOWN ? Math.max(0, difference - 3) : 0
  const first = Math.max(0, start + skipped - 1)
  return file
    .slice(first, Math.min(first + MAX_SHOWN, start + length + 1))
    .map((line, index) => {
      const at = first + index
      const differs = at >= start && at < start + length && !known.has(line)
      const shown = line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line
      return `${differs ? '>' : ' '}${String(at + 1).padStart(4)}: ${shown}`
    })
    .join('\n')
}

/** Returns the most similar place in the file, by shared words and letter groups; null when there is none. */
function findNearest(file: readonly string[], wanted: readonly string[]): number | null {
  const compared = wanted.slice(0, MAX_COMPARED)
  const places = placesOf(compared.map(groupsOf))
  const hits = new Map<string, number[] | null>()
  for (const [index, line] of file.entries())
    for (const group of groupsOf(line)) {
      if (!places.has(group)) continue
      const lines = hits.get(group)
      if (lines === undefined) hits.set(group, [index])
      else if (lines !== null && lines.push(index) > MAX_LINES_OF_GROUP) hits.set(group, null)
    }
  const votes = new Map<number, number>()
  for (const [group, lines] of hits)
    for (const line of lines ?? [])
      for (const place of places.get(group) ?? [])
        votes.set(line - place, (votes.get(line - place) ?? 0) + 1 / (lines?.length ?? 1))
  let best: number | null = null
  for (const [start, weight] of votes) if (best === null || weight > (votes.get(best) ?? 0)) best = start
  if (best === null) return null
  const window = file.slice(Math.max(0, best), Math.max(0, best) + compared.length)
  return likeness(window, compared) >= ALIKE ? Math.max(0, best) : null
}

function placesOf(groups: readonly ReadonlySet<string>[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const [index, line] of groups.entries())
    for (const group of line) places.set(group, [...(places.get(group) ?? []), index])
  return places
}

/** Returns the words of a line and its groups of three letters without blanks, in lower case. */
function groupsOf(line: string): Set<string> {
  const start = line.slice(0, 1_000).toLowerCase()
  const text = squeeze(start)
  const groups = new Set<string>(start.match(/[\w-]{4,}/g))
  for (let at = 0; at + GROUP <= text.length; at++) groups.add(text.slice(at, at + GROUP))
  return groups
}

/** Returns the share of letter groups that two texts have in common, from 0 to 1. */
function likeness(a: readonly string[], b: readonly string[]): number {
  const [ofA, ofB] = [a, b].map((lines) => new Set(lines.flatMap((line) => [...groupsOf(line)]))) as [
    Set<string>,
    Set<string>,
  ]
  const shared = [...ofA].filter((group) => ofB.has(group)).length
  return (2 * shared) / (ofA.size + ofB.size || 1)
}
