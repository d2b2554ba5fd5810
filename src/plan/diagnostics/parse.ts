import type { EngineDiagnostic } from '../../services/iac/answers.ts'
import type { Diagnostic } from './diagnostic.ts'

/** More are follow-ups, and nobody reads them. */
const MAX_DIAGNOSTICS = 200
const HEAD = /^(Error|Warning): (.*)$/
const PLACE = /^\s+on (.+?) line (\d+)(?:, in (.+?))?:?$/
const FILE_ONLY = /^\s+on (.+?)$/
const WITH = /^\s+with (.+?)[,:]$/
const QUOTED = /^\s+\d+:( |$)/
/** The frame of an engine that draws one, and colours should there be any. */
const FRAME = /^(?:[│╷╵] ?)?/
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape
const COLOUR = /\u001b\[[0-9;]*m/g

/**
 * Reads what OpenTofu and Terraform print about errors, with and without frame. Text between diagnostics is
 * left out; text without any gives none.
 */
export function parseText(text: string): Diagnostic[] {
  const found: Diagnostic[] = []
  let lines: string[] = []
  let head: RegExpExecArray | null = null
  const end = () => {
    if (head && found.length < MAX_DIAGNOSTICS) found.push(diagnosticOf(head, lines))
    lines = []
  }
  for (const raw of text.replaceAll(COLOUR, '').split(/\r?\n/)) {
    const line = raw.replace(FRAME, '').trimEnd()
    const next = HEAD.exec(line)
    if (next) {
      end()
      head = next
    } else if (raw.startsWith('╵')) {
      end()
      head = null
    } else lines.push(line)
  }
  end()
  return found
}

function diagnosticOf([, severity, summary = '']: RegExpExecArray, lines: readonly string[]): Diagnostic {
  const { rest, ...place } = placeOf(lines)
  // A summary of several lines ends at the first empty one.
  const blank = lines.indexOf('')
  const more = blank > 0 && place.file === null && place.address === null ? lines.slice(0, blank) : []
  return {
    severity: severity === 'Warning' ? 'warning' : 'error',
    summary: [summary, ...more].join(' ').trim(),
    detail: rest.slice(more.length).join('\n').trim(),
    ...place,
    count: 1,
  }
}

type Place = Pick<Diagnostic, 'file' | 'line' | 'context' | 'address' | 'snippet'>

function placeOf(lines: readonly string[]): Place & { rest: string[] } {
  const place: Place = { file: null, line: null, context: null, address: null, snippet: '' }
  const quoted: string[] = []
  const rest: string[] = []
  let reading = true
  for (const line of lines) {
    const withAddress = WITH.exec(line)
    const at = PLACE.exec(line) ?? FILE_ONLY.exec(line)
    if (reading && withAddress && place.address === null) place.address = withAddress[1] ?? null
    else if (reading && at && place.file === null) {
      Object.assign(place, { file: at[1] ?? null, line: at[2] ? Number(at[2]) : null, context: at[3] ?? null })
    } else if (reading && place.file !== null && (QUOTED.test(line) || /^\s+[├│]/.test(line))) quoted.push(line)
    else {
      if (line !== '') reading = false
      rest.push(line)
    }
  }
  return { ...place, snippet: quoted.join('\n'), rest }
}

/** Entries of `validate -json`. */
export const fromEngine = (entries: readonly EngineDiagnostic[]): Diagnostic[] =>
  entries.map(({ severity, summary, detail, address, range, snippet }) => ({
    severity: severity === 'warning' ? 'warning' : 'error',
    summary,
    detail,
    file: range?.filename ?? null,
    line: range?.start.line ?? null,
    context: snippet?.context ?? null,
    address: address ?? null,
    snippet: snippet ? numbered(snippet.code, snippet.start_line) : '',
    count: 1,
  }))

/** As the engine quotes code in its text. */
export const numbered = (code: string, first: number): string =>
  code
    .split('\n')
    .map((line, index) => `${String(first + index).padStart(4)}: ${line}`)
    .join('\n')
