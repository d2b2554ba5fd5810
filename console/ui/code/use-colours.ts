import { useEffect, useMemo, useState } from 'preact/hooks'
import type { colourLine, LineMode } from './colours/colours.ts'
import { type Row, sideOf } from './lines/rows.ts'
import type { Token } from './lines/words.ts'

let loaded: typeof colourLine | null = null

/** The tokens of a row. Until the colours are loaded, and where the language has none, a line is one token. */
export function useColours(rows: readonly Row[], name: string): (row: Row, text: string) => Token[] {
  const language = languageOf(name)
  const [colour, setColour] = useState(() => loaded)
  useEffect(() => {
    if (language === null || loaded) return
    let gone = false
    import('./colours/colours.ts').then(
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

const LANGUAGES: [RegExp, string][] = [
  [/\.(tf|tfvars|hcl|tofu|tfbackend)$/i, 'hcl'],
  [/\.(json|tfstate)$/i, 'json'],
  [/\.ya?ml$/i, 'yaml'],
]

/** The language of a file by its name; null when it has no colours. */
export const languageOf = (name: string): string | null =>
  LANGUAGES.find(([pattern]) => pattern.test(name))?.[1] ?? null

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
