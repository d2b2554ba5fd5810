import { useMemo } from 'preact/hooks'
import { visibleText } from '../words/text.ts'
import { UnifiedRow } from './code-rows.tsx'
import { CodeTable } from './code-table.tsx'
import { useColours } from './colours/use-colours.ts'
import type { LineLinks } from './line-link.ts'
import { type Row, readWhole } from './lines/rows.ts'

interface CodeFileProps {
  text: string
  /** Path of the file, which tells the language. */
  name: string
  links?: LineLinks
}

const NO_MARKS = new Map()

/** A whole file, with numbered lines. */
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
