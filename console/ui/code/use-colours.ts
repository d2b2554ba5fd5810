import { useMemo } from 'preact/hooks'
import { useModule } from '../use-module.ts'
import type { LineMode } from './colours/colours.ts'
import { type Row, sideOf } from './lines/rows.ts'
import type { Token } from './lines/words.ts'

/** Returns the tokens of a row: one per line until the colours are loaded, and for unknown languages. */
export function useColours(rows: readonly Row[], name: string): (row: Row, text: string) => Token[] {
  const language = languageOf(name)
  // The code is complete without colours.
  const colour = useModule('colours', language !== null, async () => (await import('./colours/colours.ts')).colourLine)
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

/** Returns the language of a file by its name; null when it has no colours. */
export const languageOf = (name: string): string | null =>
  LANGUAGES.find(([pattern]) => pattern.test(name))?.[1] ?? null

const HEREDOC = /<<-?\s*([A-Za-z_][\w-]*)\s*$/
/** The length of a line's end that is searched for the start of a multi-line text. */
const TAIL = 200

/** Finds multi-line texts and comments in HCL, which take the library minutes to find in a malicious file. */
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
