import type { Range } from './words.ts'

/** A part of a line as the colours see it. */
export interface Token {
  text: string
  /** Empty: without a colour. */
  kind: string
}

export interface Segment extends Token {
  /** It differs from the other version of the line. */
  marked: boolean
}

/** Cuts the tokens of a line where a mark begins or ends. */
export function markTokens(tokens: readonly Token[], marks: readonly Range[]): Segment[] {
  const edges = marks.flat()
  const segments: Segment[] = []
  let at = 0
  for (const { text, kind } of tokens) {
    const end = at + text.length
    const cuts = [at, ...edges.filter((edge) => edge > at && edge < end), end]
    for (let index = 0; index + 1 < cuts.length; index += 1) {
      const from = cuts[index] as number
      const to = cuts[index + 1] as number
      const marked = marks.some((mark) => mark[0] <= from && to <= mark[1])
      if (to > from) segments.push({ text: text.slice(from - at, to - at), kind, marked })
    }
    at = end
  }
  return segments
}
