import { ToolError } from '../../src/agent/types.ts'

interface Block {
  search: string[]
  replace: string[]
  /** Line of the opening marker in the diff, from 1. */
  line: number
}

const SEARCH = '<<<<<<< SEARCH'
const DIVIDER = '======='
const REPLACE = '>>>>>>> REPLACE'

/**
 * Applies search/replace blocks, in order; every search text must occur exactly once in the text the
 * earlier blocks left. An empty replacement removes the searched lines with their line break.
 * Errors: `ToolError` naming block number and diff line; nothing is applied then.
 */
export function searchReplace(text: string, diff: string): string {
  const line_break = text.includes('\r\n') ? '\r\n' : '\n'
  return parseBlocks(diff).reduce((current, block, index) => apply(current, block, index + 1, line_break), text)
}

function apply(text: string, block: Block, number: number, line_break: string): string {
  const search = block.search.join(line_break)
  const at = text.indexOf(search)
  if (at < 0)
    throw refused(
      number,
      block.line,
      'the search text does not occur in the file; it must match exactly, blanks included',
    )
  if (text.indexOf(search, at + 1) >= 0)
    throw refused(number, block.line, 'the search text occurs more than once; add lines around it until it is unique')
  let end = at + search.length
  if (block.replace.length === 0 && text.startsWith(line_break, end)) end += line_break.length
  return text.slice(0, at) + block.replace.join(line_break) + text.slice(end)
}

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
        throw refused(blocks.length + 1, line, `expected \`${SEARCH}\`, found text outside of a block`)
      open = { search: [], replace: [], line }
      part = 'search'
    } else if (marker === SEARCH) throw refused(blocks.length + 1, line, 'a block begins inside of another')
    else if (marker === DIVIDER) {
      if (part === 'replace') throw refused(blocks.length + 1, line, `a second \`${DIVIDER}\` in one block`)
      part = 'replace'
    } else if (marker === REPLACE) {
      if (part === 'search') throw refused(blocks.length + 1, line, `\`${DIVIDER}\` is missing`)
      if (open.search.join('').trim() === '') throw refused(blocks.length + 1, open.line, 'the search text is empty')
      blocks.push(open)
      open = null
    } else open[part].push(text)
  }
  if (open !== null) throw refused(blocks.length + 1, open.line, `the block is not closed by \`${REPLACE}\``)
  if (blocks.length === 0) throw refused(1, 1, `no \`${SEARCH}\` block was found`)
  return blocks
}

const refused = (block: number, line: number, reason: string): ToolError =>
  new ToolError(`Block ${block} (diff line ${line}): ${reason}. The file was not changed.`)
