import type { EngineDiagnostic } from '../../services/iac/contract.ts'
import type { Diagnostic } from './diagnostic.ts'

/** Later diagnostics are nearly always consequences of the first ones. */
const MAX_DIAGNOSTICS = 200
const HEAD = /^(Error|Warning): (.*)$/
const PLACE = /^\s+on (.+?) line (\d+)(?:, in (.+?))?:?$/
const FILE_ONLY = /^\s+on (.+?)$/
const WITH = /^\s+with (.+?)[,:]$/
const QUOTED = /^\s+\d+:( |$)/
/** Terraform draws a frame around each diagnostic, and both engines may colour their output. */
const FRAME = /^(?:[│╷╵] ?)?/
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape
const COLOUR = /\u001b\[[0-9;]*m/g

/** Reads the diagnostics in engine output, with or without a frame; within one, a heading is a part of its message. */
export function parseDiagnostics(text: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  let lines: string[] = []
  let head: RegExpExecArray | null = null
  let isFramed = false
  let isAfterBlank = true
  const endDiagnostic = () => {
    if (head && diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push(diagnosticOf(head, lines))
    lines = []
  }
  for (const raw of text.replaceAll(COLOUR, '').split(/\r?\n/)) {
    const line = raw.replace(FRAME, '').trimEnd()
    if (raw.startsWith('╷')) isFramed = false
    // Without a frame, an empty line stands before each heading of the engine.
    const isInside: boolean = isFramed || (head !== null && !isAfterBlank)
    const heading: RegExpExecArray | null = isInside ? null : HEAD.exec(line)
    isAfterBlank = line === ''
    if (heading) {
      endDiagnostic()
      head = heading
      isFramed = raw.startsWith('│')
    } else if (raw.startsWith('╵')) {
      endDiagnostic()
      head = null
      isFramed = false
    } else lines.push(line)
  }
  endDiagnostic()
  return diagnostics
}

function diagnosticOf([, severity, summary = '']: RegExpExecArray, lines: readonly string[]): Diagnostic {
  const { rest, ...place } = placeOf(lines)
  // A summary may span several lines; it ends at the first empty line.
  const blank = lines.indexOf('')
  const continuation = blank > 0 && place.file === null && place.address === null ? lines.slice(0, blank) : []
  return {
    severity: severity === 'Warning' ? 'warning' : 'error',
    summary: [summary, ...continuation].join(' ').trim(),
    detail: rest.slice(continuation.length).join('\n').trim(),
    ...place,
    count: 1,
  }
}

type Place = Pick<Diagnostic, 'file' | 'line' | 'context' | 'address' | 'snippet'>

function placeOf(lines: readonly string[]): Place & { rest: string[] } {
  const place: Place = { file: null, line: null, context: null, address: null, snippet: '' }
  const quoted: string[] = []
  const rest: string[] = []
  let inHeader = true
  for (const line of lines) {
    const withAddress = WITH.exec(line)
    const at = PLACE.exec(line) ?? FILE_ONLY.exec(line)
    if (inHeader && withAddress && place.address === null) place.address = withAddress[1] ?? null
    else if (inHeader && at && place.file === null) {
      Object.assign(place, { file: at[1] ?? null, line: at[2] ? Number(at[2]) : null, context: at[3] ?? null })
    } else if (inHeader && place.file !== null && (QUOTED.test(line) || /^\s+[├│]/.test(line))) quoted.push(line)
    else {
      if (line !== '') inHeader = false
      rest.push(line)
    }
  }
  return { ...place, snippet: quoted.join('\n'), rest }
}

/** Converts the entries of the engine's `validate -json`. */
export const fromEngine = (entries: readonly EngineDiagnostic[]): Diagnostic[] =>
  entries.map(({ severity, summary, detail, address, range, snippet }) => ({
    severity: severity === 'warning' ? 'warning' : 'error',
    summary,
    detail,
    file: range?.filename ?? null,
    line: range?.start.line ?? null,
    context: snippet?.context ?? null,
    address: address ?? null,
    snippet: snippet ? numberLines(snippet.code, snippet.start_line) : '',
    count: 1,
  }))

/** Numbers lines of code as the engine does. */
const numberLines = (code: string, first: number): string =>
  code
    .split('\n')
    .map((line, index) => `${String(first + index).padStart(4)}: ${line}`)
    .join('\n')
