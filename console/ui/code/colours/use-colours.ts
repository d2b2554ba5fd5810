import { useEffect, useMemo, useState } from 'preact/hooks'
import { type LineMode, lineModes } from '../lines/line-modes.ts'
import { type Row, sideOf } from '../lines/rows.ts'
import type { Token } from '../lines/segments.ts'
import type { colourLine } from './colours.ts'
import { languageOf } from './language.ts'

let loaded: typeof colourLine | null = null

/** The tokens of a row. Until the colours are loaded, and where the language has none, a line is one token. */
export function useColours(rows: readonly Row[], name: string): (row: Row, text: string) => Token[] {
  const language = languageOf(name)
  const [colour, setColour] = useState(() => loaded)
  useEffect(() => {
    if (language === null || loaded) return
    let gone = false
    import('./colours.ts').then(
      (module) => {
        loaded = module.colourLine
        if (!gone) setColour(() => loaded)
      },
      // Without colours the code is as complete as with them.
      () => {},
    )
    return () => {
      gone = true
    }
  }, [language])
  const modes = useMemo(() => (language === 'hcl' ? modesOf(rows) : new Map<Row, LineMode>()), [rows, language])
  return (row, text) => (colour && language ? colour(text, language, modes.get(row) ?? 'code') : [{ text, kind: '' }])
}

function modesOf(rows: readonly Row[]): Map<Row, LineMode> {
  const modes = new Map<Row, LineMode>()
  for (const side of ['before', 'after'] as const) {
    const lines = sideOf(rows, side)
    const found = lineModes(lines.map(({ text }) => text))
    for (const [index, row] of lines.entries()) modes.set(row, found[index] ?? 'code')
  }
  return modes
}
