import { useMemo } from 'preact/hooks'
import { formatNumber, visibleText } from '../words.ts'
import { CodeTable, type LineLinks } from './code-table.tsx'
import { type Row, readDiff, readWhole } from './lines/rows.ts'
import { markTokens, markWords, pairLines, type Range, splitRows, type Token } from './lines/words.ts'
import { useColours } from './use-colours.ts'

interface ViewProps {
  /** The path of the file, which determines the language. */
  name: string
  layout?: 'unified' | 'split'
  links?: LineLinks
}

/** Shows the changes of a file from a unified diff with all of it as context, as `code_changes` artifacts are. */
export function CodeDiff({ diff, ...view }: ViewProps & { diff: string }) {
  const rows = useMemo(() => readDiff(diff), [diff])
  if (rows.length === 0) return <pre class="code-raw">{visibleText(diff.slice(0, 2_000))}</pre>
  return <RowsDiff rows={rows} {...view} />
}

/** Shows a whole file with numbered lines. */
export function CodeFile({ text, ...view }: Omit<ViewProps, 'layout'> & { text: string }) {
  const rows = useMemo(() => readWhole(text), [text])
  return <CodeRows rows={rows} layout="whole" {...view} />
}

/** Shows the changes of a file, with unchanged parts folded. */
export const RowsDiff = ({ layout = 'unified', ...view }: ViewProps & { rows: readonly Row[] }) => (
  <CodeRows layout={layout} {...view} />
)

const COLUMNS = {
  unified: ['Line before', 'Line after', 'Change', 'Code'],
  split: ['Line before', 'Code before', 'Line after', 'Code after'],
  whole: ['Line', 'Code'],
}

interface RowsProps extends Pick<ViewProps, 'name' | 'links'> {
  rows: readonly Row[]
  layout: keyof typeof COLUMNS
}

function CodeRows({ rows, name, layout, links }: RowsProps) {
  const tokens = useColours(rows, name)
  const { marks, split } = useMemo(() => {
    const pairs = pairLines(rows)
    return { marks: markWords(rows, pairs), split: splitRows(rows, pairs) }
  }, [rows])
  const isSplit = layout === 'split'
  const lines = useMemo(
    () => (isSplit ? split.map(({ left, right }) => (right ?? left) as Row) : rows),
    [isSplit, split, rows],
  )
  const text = (row: Row) => <CodeText row={row} tokens={tokens} marks={marks.get(row)} />
  return (
    <CodeTable
      class={`code-${layout}`}
      caption={`${layout === 'whole' ? 'Text' : 'Changes'} of ${visibleText(name)}`}
      columns={COLUMNS[layout]}
      lines={lines}
      links={links}
      row={(index, tabLine) => {
        const row = lines[index] as Row
        const { left, right } = isSplit ? (split[index] ?? NONE) : { left: row, right: row }
        const selected = right !== null && right.after !== null && right.after === links?.selected
        const number = <LineNumber line={right?.after ?? null} links={links} tabLine={tabLine} />
        const half = (side: Row | null) => (
          <td class={`code-text code-${side ? side.kind : 'none'}`} dir="ltr">
            {side && side.kind !== 'same' && <span class="code-sign">{SIGNS[side.kind]}</span>}
            {side && text(side)}
          </td>
        )
        return (
          <tr
            key={index}
            class={[!isSplit && `code-${row.kind}`, selected && 'code-selected'].filter(Boolean).join(' ')}
            aria-current={selected || undefined}
          >
            {layout !== 'whole' && <td class="code-number">{left?.before}</td>}
            {isSplit && half(left)}
            {number}
            {layout === 'unified' && <td class="code-sign">{SIGNS[row.kind]}</td>}
            {isSplit ? (
              half(right)
            ) : (
              <td class="code-text" dir="ltr">
                {text(row)}
              </td>
            )}
          </tr>
        )
      }}
    />
  )
}

const SIGNS = { same: '', added: '+', removed: '−' } as const
const NONE = { left: null, right: null }

/** Shows a line number of the later version as a link. */
function LineNumber({ line, links, tabLine }: { line: number | null; links?: LineLinks; tabLine: number | null }) {
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
