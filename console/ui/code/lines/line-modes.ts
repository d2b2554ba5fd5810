/** Whether a line is code, or stands inside of a text or a comment that began on an earlier one. */
export type LineMode = 'code' | 'string' | 'comment'

const HEREDOC = /<<-?\s*([A-Za-z_][\w-]*)\s*$/
/** Only the end of a line can begin a text of several lines. */
const TAIL = 200

/**
 * Reads what spans several lines in HCL, so that each line can be coloured by itself. The colours of the library look
 * for the ends of such texts from every beginning on, which takes minutes for a file that was made to do so.
 */
export function lineModes(lines: readonly string[]): LineMode[] {
  let until: { mode: 'string' | 'comment'; ends: (line: string) => boolean } | null = null
  return lines.map((line) => {
    if (until) {
      const { mode, ends } = until
      if (ends(line)) until = null
      return mode
    }
    const name = HEREDOC.exec(line.slice(-TAIL))?.[1]
    if (name) until = { mode: 'string', ends: (next) => next.length < TAIL && next.trim() === name }
    else if (/^\s{0,200}\/\*/.test(line)) {
      if (!line.includes('*/')) until = { mode: 'comment', ends: (next) => next.includes('*/') }
      return 'comment'
    }
    return 'code'
  })
}
