import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { keepInSight } from '../keep-in-sight.ts'
import { Button } from '../kit.tsx'
import { formatNumber, plural, visibleText } from '../words.ts'
import { blockAround, foldLines, type Piece } from './lines/fold.ts'
import type { Row } from './lines/rows.ts'

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
export function CodeTable({ caption, columns, lines, row, links, ...props }: CodeTableProps) {
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
              <Fold
                key={`fold-${piece.to}`}
                count={piece.to - piece.from}
                block={blockAround(lines, piece.to)}
                span={columns.length}
                open={() => open(piece)}
              />
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

interface FoldProps {
  count: number
  block: string | null
  span: number
  open: () => void
}

const Fold = ({ count, block, span, open }: FoldProps) => (
  <tr class="code-fold">
    <td colSpan={span}>
      <Button kind="quiet" small onClick={open}>
        <span aria-hidden="true">↕</span> Show {plural(Math.min(STEP, count), 'unchanged line')}
      </Button>
      {block && <span class="code-block">in {visibleText(block)}</span>}
    </td>
  </tr>
)

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
