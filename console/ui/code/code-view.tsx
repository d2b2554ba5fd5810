import { useMemo } from 'preact/hooks'
import { visibleText } from '../words.ts'
import type { LineLinks } from './code-rows.tsx'
import { SplitRow, UnifiedRow } from './code-rows.tsx'
import { CodeTable } from './code-table.tsx'
import { type Row, readDiff, readWhole } from './lines/rows.ts'
import { markWords, pairLines, splitRows } from './lines/words.ts'
import { useColours } from './use-colours.ts'

interface CodeDiffProps {
  /** A unified diff with the whole file as context, as `code_changes` artifacts are. */
  diff: string
  /** The path of the file, which determines the language. */
  name: string
  layout?: 'unified' | 'split'
}

/** Shows the changes of a file, with unchanged parts folded. */
export function CodeDiff({ diff, name, layout }: CodeDiffProps) {
  const rows = useMemo(() => readDiff(diff), [diff])
  if (rows.length === 0) return <pre class="code-raw">{visibleText(diff.slice(0, 2_000))}</pre>
  return <RowsDiff rows={rows} name={name} layout={layout} />
}

interface RowsDiffProps {
  rows: readonly Row[]
  name: string
  layout?: 'unified' | 'split'
  links?: LineLinks
}

const UNIFIED = ['Line before', 'Line after', 'Change', 'Code']
const SPLIT = ['Line before', 'Code before', 'Line after', 'Code after']

export function RowsDiff({ rows, name, layout = 'unified', links }: RowsDiffProps) {
  const tokens = useColours(rows, name)
  const { marks, split } = useMemo(() => {
    const pairs = pairLines(rows)
    return { marks: markWords(rows, pairs), split: splitRows(rows, pairs) }
  }, [rows])
  const isSplit = layout === 'split'
  const lines = useMemo(
    () => (isSplit ? split.map(({ left, right }) => right ?? left) : rows) as readonly Row[],
    [isSplit, split, rows],
  )
  const shape = useMemo(
    () => ({
      changed: isSplit ? split.map(({ left, right }) => left !== right) : rows.map(({ kind }) => kind !== 'same'),
      texts: lines.map(({ text }) => text),
      numbers: lines.map(({ after }) => after),
    }),
    [isSplit, split, rows, lines],
  )
  return (
    <CodeTable
      {...shape}
      class={isSplit ? 'code-split' : 'code-unified'}
      caption={`Changes of ${visibleText(name)}`}
      columns={isSplit ? SPLIT : UNIFIED}
      links={links}
      row={(index, tabLine) => {
        const props = { tokens, marks, links, tabLine }
        const pair = split[index]
        return isSplit && pair ? (
          <SplitRow key={index} left={pair.left} right={pair.right} {...props} />
        ) : (
          <UnifiedRow key={index} row={rows[index] as Row} plain={false} {...props} />
        )
      }}
    />
  )
}

interface CodeFileProps {
  text: string
  /** The path of the file, which determines the language. */
  name: string
  links?: LineLinks
}

const NO_MARKS = new Map()

/** Shows a whole file with numbered lines. */
export function CodeFile({ text, name, links }: CodeFileProps) {
  const rows = useMemo(() => readWhole(text), [text])
  const tokens = useColours(rows, name)
  const shape = useMemo(
    () => ({
      changed: rows.map(() => false),
      texts: rows.map((row) => row.text),
      numbers: rows.map(({ after }) => after),
    }),
    [rows],
  )
  return (
    <CodeTable
      {...shape}
      class="code-whole"
      caption={`Text of ${visibleText(name)}`}
      columns={['Line', 'Code']}
      links={links}
      row={(index, tabLine) => (
        <UnifiedRow
          key={index}
          row={rows[index] as Row}
          plain
          tokens={tokens}
          marks={NO_MARKS}
          links={links}
          tabLine={tabLine}
        />
      )}
    />
  )
}
