import { cutMiddle } from '../base/text.ts'

const BLOCK = /<<<DATA [^\n]* ([0-9a-f]{16})\n([\s\S]*?)\n\1 DATA>>>/g
/** What a marker adds at most. */
const MARKER = 48

/**
 * A query that is too long: its data blocks are cut in the middle, the longest first, and stay blocks; a text
 * without blocks is cut as a whole.
 * @param max UTF-16 units of the result, which is longer only when what stands beside the blocks is
 */
export function cutData(text: string, max: number): string {
  if (text.length <= max) return text
  const blocks = [...text.matchAll(BLOCK)].map(({ 2: content = '', index, 0: whole }) => ({
    start: index + whole.indexOf('\n') + 1,
    content,
    keep: content.length,
  }))
  if (blocks.length === 0) return cutMiddle(text, Math.max(0, max - MARKER))
  let excess = text.length - max
  while (excess > 0) {
    const longest = blocks.reduce((a, b) => (b.keep > a.keep ? b : a))
    if (longest.keep === 0) break
    const uncut = longest.keep === longest.content.length
    const next = Math.max(...blocks.filter((block) => block !== longest).map(({ keep }) => keep), 0)
    // Down to the next longest at most, so that several long blocks share the loss.
    const down = Math.min(excess + (uncut ? MARKER : 0), Math.max(longest.keep - next, Math.ceil(longest.keep / 10)))
    longest.keep = Math.max(0, longest.keep - down)
    excess -= down - (uncut ? MARKER : 0)
  }
  let result = ''
  let reached = 0
  for (const { start, content, keep } of blocks) {
    result += text.slice(reached, start) + cutMiddle(content, keep)
    reached = start + content.length
  }
  return result + text.slice(reached)
}
