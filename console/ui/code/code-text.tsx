import { formatNumber } from '../words/format.ts'
import { visibleText } from '../words/text.ts'
import type { Row } from './lines/rows.ts'
import { markTokens, type Token } from './lines/segments.ts'
import type { Range } from './lines/words.ts'

/** What is drawn of one line: a megabyte in one line would stop the browser. */
const MAX_DRAWN = 2_000

interface CodeTextProps {
  row: Row
  tokens: (row: Row, text: string) => Token[]
  marks?: readonly Range[]
}

/** The text of one line, in colours and with its changed parts marked. */
export function CodeText({ row, tokens, marks = [] }: CodeTextProps) {
  const text = row.text.slice(0, MAX_DRAWN)
  const hidden = row.text.length - text.length
  return (
    <>
      {markTokens(tokens(row, text), marks).map(({ text: part, kind, marked }, index) => {
        const shown = visibleText(part)
        const classes = [kind && `code-${kind}`, marked && 'code-mark'].filter(Boolean).join(' ')
        return classes ? (
          <span key={index} class={classes}>
            {shown}
          </span>
        ) : (
          shown
        )
      })}
      {hidden > 0 && <span class="code-note">… {formatNumber(hidden)} more characters</span>}
      {row.unended && <span class="code-note">no line break at the end of the file</span>}
    </>
  )
}
