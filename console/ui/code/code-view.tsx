import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { keepInSight } from '../keep-in-sight.ts'
import { Button } from '../kit.tsx'
import { formatNumber, plural, visibleText } from '../words.ts'
import { blockAround, foldLines, type Piece } from './lines/fold.ts'
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
  return <CodeRows rows={rows} {...view} />
}

/** Shows a whole file with numbered lines. */
export function CodeFile({ text, ...view }: Omit<ViewProps, 'layout'> & { text: string }) {
  const rows = useMemo(() => readWhole(text), [text])
  return <CodeRows rows={rows} layout="whole" {...view} />
}

const COLUMNS = {
  unified: ['Line before', 'Line after', 'Change', 'Code'],
  split: ['Line before', 'Code before', 'Line after', 'Code after'],
  whole: ['Line', 'Code'],
}

interface RowsProps extends Pick<ViewProps, 'name' | 'links'> {
  rows: readonly Row[]
  layout?: keyof typeof COLUMNS
}

/** Shows the lines of a file, with unchanged parts folded. */
export function CodeRows({ rows, name, layout = 'unified', links }: RowsProps) {
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

/** The links to single lines of the later version. */
export interface LineLinks {
  href: (line: number) => string
  /** Puts the line into the address. */
  select: (line: number) => void
  /** The line that the address names. */
  selected: number | null
}

/** The number of lines that a long file shows at once, and that a fold opens at once. */
const STEP = 1_000
/** The maximum line number to reveal: the lines before it would block the browser. */
const MAX_REVEALED = 5_000

const WIDTHS: Record<string, string> = { Line: 'code-col-number', Change: 'code-col-sign' }

interface CodeTableProps {
  caption: string
  columns: readonly string[]
  /** The rows; of a pair side by side, the later one. */
  lines: readonly Row[]
  row: (index: number, tabLine: number | null) => ComponentChildren
  links?: LineLinks
  class: string
}

/** Returns the lines to draw: the changes, opened folds, and the line that the address names. */
function useFolding(lines: readonly Row[], links: LineLinks | undefined) {
  const table = useRef<HTMLTableElement>(null)
  const [opened, setOpened] = useState<ReadonlyMap<number, number>>(new Map())
  const [asked, setAsked] = useState(STEP)
  const selected = links?.selected ?? null
  const reveal = selected === null ? -1 : lines.findIndex(({ after }) => after === selected)
  const limit = Math.max(asked, reveal >= 0 && reveal < MAX_REVEALED ? reveal + 50 : 0)
  const { pieces, left } = useMemo(
    () =>
      foldLines(
        lines.map(({ kind }) => kind !== 'same'),
        { opened, reveal, limit },
      ),
    [lines, opened, reveal, limit],
  )
  const focusLine = useRef<number | null>(null)
  useEffect(() => {
    // The button that had the focus no longer exists.
    if (focusLine.current !== null) lineOf(table.current, focusLine.current)?.focus({ preventScroll: true })
    focusLine.current = null
  }, [opened])
  useEffect(() => {
    const line = selected === null ? null : lineOf(table.current, selected)
    return line ? keepInSight(line, 'center') : undefined
  }, [selected, reveal >= 0])
  const first = pieces.find(({ kind }) => kind === 'shown')
  const shown = lines.slice(first?.from, first?.to).find(({ after }) => after !== null)
  const tabLine = reveal >= 0 ? selected : (shown?.after ?? null)
  const open = (piece: Piece) => {
    focusLine.current = lines[piece.from]?.after ?? null
    setOpened((before) => new Map(before).set(piece.stretch, (before.get(piece.stretch) ?? 0) + STEP))
  }
  return { table, pieces, left, tabLine, open, more: () => setAsked(limit + STEP) }
}

/** Shows lines of code as a table whose unchanged parts are folded. */
function CodeTable({ caption, columns, lines, row, links, ...props }: CodeTableProps) {
  const { table, pieces, left, tabLine, open, more } = useFolding(lines, links)
  return (
    <>
      <table ref={table} class={`code ${props.class}`} onKeyDown={(event) => moveByArrows(event, table.current)}>
        <caption class="unseen">{caption}</caption>
        <colgroup>
          {columns.map((column) => (
            <col key={column} class={WIDTHS[column.split(' ')[0] as string]} />
          ))}
        </colgroup>
        <thead class="unseen">
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pieces.map((piece) =>
            piece.kind === 'shown' ? (
              Array.from({ length: piece.to - piece.from }, (_, index) => row(piece.from + index, tabLine))
            ) : (
              <Fold key={`fold-${piece.to}`} {...{ piece, lines }} span={columns.length} open={() => open(piece)} />
            ),
          )}
        </tbody>
      </table>
      {left > 0 && (
        <div class="code-more">
          <Button small onClick={more}>
            Show {formatNumber(Math.min(STEP, left))} more lines
          </Button>
          <span class="quiet small">{plural(left, 'line')} left</span>
        </div>
      )}
    </>
  )
}

type FoldProps = Pick<CodeTableProps, 'lines'> & { piece: Piece; span: number; open: () => void }

function Fold({ piece: { from, to }, lines, span, open }: FoldProps) {
  const block = blockAround(lines, to)
  return (
    <tr class="code-fold">
      <td colSpan={span}>
        <Button kind="quiet" small onClick={open}>
          <span aria-hidden="true">↕</span> Show {plural(Math.min(STEP, to - from), 'unchanged line')}
        </Button>
        {block && <span class="code-block">in {visibleText(block)}</span>}
      </td>
    </tr>
  )
}

const lineOf = (table: HTMLElement | null, line: number) =>
  table?.querySelector<HTMLElement>(`[data-line="${line}"]`) ?? null

function moveByArrows(event: KeyboardEvent, table: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step || !(event.target as HTMLElement).dataset.line) return
  const lines = [...(table?.querySelectorAll<HTMLElement>('[data-line]') ?? [])]
  const next = lines[lines.indexOf(event.target as HTMLElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
