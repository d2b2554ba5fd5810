import { ToolError } from '../../../src/agent/agent-request.ts'
import { describeMiss, linesOf } from './nearest-lines.ts'

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
 * Applies search/replace blocks in order. Each search text must occur exactly once in the text left by earlier blocks.
 * An empty replacement also removes the line break. Errors: `ToolError` with number, line and nearest text of each
 * block that does not fit or changes nothing.
 */
export function searchReplace(text: string, diff: string): string {
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n'
  const fitting: number[] = []
  const faults: string[] = []
  let current = text
  for (const [index, block] of parseBlocks(diff).entries()) {
    const number = index + 1
    const applied = applyBlock(current, block, { lineBreak, explain: faults.length < MAX_EXPLAINED })
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

function applyBlock(
  text: string,
  block: Block,
  { lineBreak, explain }: { lineBreak: string; explain: boolean },
): { text: string } | { fault: string } {
  const search = block.search.join(lineBreak)
  const at = text.indexOf(search)
  if (at < 0) {
    const fault = 'the search text does not occur in the file'
    return { fault: explain ? `${fault}; ${describeMiss(text, block)}` : `${fault}.` }
  }
  if (search === block.replace.join(lineBreak))
    return {
      fault:
        'the replacement is the same as the search text, so that nothing would change: put the new lines between ' +
        `\`${DIVIDER}\` and \`${REPLACE}\`, or leave the block out.`,
    }
  if (text.indexOf(search, at + 1) >= 0)
    return {
      fault:
        `the search text occurs more than once, ${describePlaces(text, search)}; add lines around it until it is ` +
        'unique.',
    }
  let end = at + search.length
  if (block.replace.length === 0 && text.startsWith(lineBreak, end)) end += lineBreak.length
  return { text: text.slice(0, at) + block.replace.join(lineBreak) + text.slice(end) }
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
