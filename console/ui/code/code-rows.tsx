import { formatNumber, visibleText } from '../words.ts'
import type { Row } from './lines/rows.ts'
import type { Range } from './lines/words.ts'
import { markTokens, type Token } from './lines/words.ts'

const SIGNS = { same: '', added: '+', removed: '−' } as const

export interface RowProps {
  tokens: (row: Row, text: string) => Token[]
  marks: ReadonlyMap<Row, Range[]>
  links?: LineLinks
  /** The line whose link Tab reaches; arrow keys lead to the others. */
  tabLine: number | null
}

/** Shows a line number of the later version as a link. */
function LineNumber({ line, links, tabLine }: { line: number | null } & Pick<RowProps, 'links' | 'tabLine'>) {
  if (line === null || !links) return <td class="code-number">{line}</td>
  return (
    <td class="code-number">
      <a
        href={links.href(line)}
        aria-label={`Line ${line}`}
        tabIndex={line === tabLine ? 0 : -1}
        data-line={line}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return
          event.preventDefault()
          links.select(line)
        }}
      >
        {line}
      </a>
    </td>
  )
}

const isSelected = (row: Row, links?: LineLinks) => row.after !== null && row.after === links?.selected

/** Shows one row of a file, or of a diff with one version below the other. */
export function UnifiedRow({ row, plain, ...props }: { row: Row; plain: boolean } & RowProps) {
  const { links, tabLine, tokens, marks } = props
  const selected = isSelected(row, links)
  return (
    <tr class={`code-${row.kind}${selected ? ' code-selected' : ''}`} aria-current={selected || undefined}>
      {!plain && <td class="code-number">{row.before}</td>}
      <LineNumber line={row.after} links={links} tabLine={tabLine} />
      {!plain && <td class="code-sign">{SIGNS[row.kind]}</td>}
      <td class="code-text" dir="ltr">
        <CodeText row={row} tokens={tokens} marks={marks.get(row)} />
      </td>
    </tr>
  )
}

/** Shows one row of a diff with both versions side by side. */
export function SplitRow({ left, right, ...props }: { left: Row | null; right: Row | null } & RowProps) {
  const { links, tabLine, tokens, marks } = props
  const selected = right !== null && isSelected(right, links)
  const cell = (row: Row | null) => (
    <td class={`code-text code-${row ? row.kind : 'none'}`} dir="ltr">
      {row && row.kind !== 'same' && <span class="code-sign">{SIGNS[row.kind]}</span>}
      {row && <CodeText row={row} tokens={tokens} marks={marks.get(row)} />}
    </td>
  )
  return (
    <tr class={selected ? 'code-selected' : ''} aria-current={selected || undefined}>
      <td class="code-number">{left?.before}</td>
      {cell(left)}
      <LineNumber line={right?.after ?? null} links={links} tabLine={tabLine} />
      {cell(right)}
    </tr>
  )
}

/** The length up to which a line is drawn: a megabyte in one line would block the browser. */
const MAX_DRAWN = 2_000

interface CodeTextProps {
  row: Row
  tokens: (row: Row, text: string) => Token[]
  marks?: readonly Range[]
}

/** Shows the text of one line, coloured and with its changed parts marked. */
function CodeText({ row, tokens, marks = [] }: CodeTextProps) {
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

/** The links to single lines of the later version. */
export interface LineLinks {
  href: (line: number) => string
  /** Puts the line into the address. */
  select: (line: number) => void
  /** The line that the address names. */
  selected: number | null
}
