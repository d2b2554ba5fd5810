import { cutMiddle } from '../../base/text.ts'

/** An error or warning of the engine. */
export interface Diagnostic {
  severity: 'error' | 'warning'
  summary: string
  /** One or several lines; empty when the engine gives no detail. */
  detail: string
  /** Path as the engine prints it, relative to the engine root with slashes; null when no file is concerned. */
  file: string | null
  line: number | null
  /** The block concerned, for example `resource "aws_s3_bucket" "logs"`; null when unknown. */
  context: string | null
  /** Address of the resource instance concerned; null when there is none. */
  address: string | null
  /** Quoted lines of code with their numbers; empty when the engine quotes none. */
  snippet: string
  /** Facts that the engine does not state, such as existing names. */
  hint?: string
  /** True for an error that the code had before the session. */
  older?: boolean
  /** Number of diagnostics that this one represents, itself included. */
  count: number
}

/** Patterns for error summaries, likely causes first: an unreadable file can lead to undeclared names. */
const CAUSES: readonly (readonly RegExp[])[] = [
  // Unparsable files: every other error may be a consequence.
  [
    /^invalid (multi-line string|expression|block definition|character|argument name|escape|template|attribute)/i,
    /^invalid (number|.* delimiter|type specification)/i,
    /^missing (newline|.* separator|close|item|attribute)/i,
    /^(unclosed|unterminated|unsupported operator|extra characters|argument or block definition required|unexpected)/i,
  ],
  // Missing modules or providers.
  [
    /module not installed|unreadable module|module not found|missing required provider|invalid provider/i,
    /failed to (query|install|get|download)|could not (load|download)/i,
    /inconsistent dependency|initialization required|duplicate /i,
  ],
  // Undeclared names.
  [
    /undeclared|unsupported (argument|attribute|block type)|call to unknown function|no such|unknown variable|cycle:/i,
    /invalid (resource type|data source|reference|function|"?self"? reference)/i,
  ],
  // Values of the wrong kind.
  [
    /missing required argument|incorrect attribute|insufficient|too (many|few)|conflicting|invalid combination/i,
    /invalid (value|index|for_each|count|variable)/i,
  ],
]

/** Ranks a diagnostic: the lower, the more likely it is a cause. */
function rankOf({ severity, summary, detail }: Diagnostic): number {
  if (severity === 'warning') return CAUSES.length + 1
  const position = CAUSES.findIndex((patterns) => patterns.some((pattern) => pattern.test(summary)))
  if (position >= 0) return position
  return /\b(because|depends on|due to) .*\b(error|failed)/i.test(detail) ? CAUSES.length + 0.5 : CAUSES.length
}

/** Orders diagnostics, causes before consequences, errors before warnings, and merges those of one summary and file. */
export function orderDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const merged = new Map<string, Diagnostic>()
  for (const diagnostic of diagnostics) {
    const key = JSON.stringify([diagnostic.severity, diagnostic.summary, diagnostic.file, diagnostic.older === true])
    const earlier = merged.get(key)
    if (!earlier) merged.set(key, diagnostic)
    else if (!isRepeated(earlier, diagnostic)) merged.set(key, mergeDiagnostics(earlier, diagnostic))
  }
  return [...merged.values()]
    .map((diagnostic, index) => ({ diagnostic, index, rank: rankOf(diagnostic) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ diagnostic }) => diagnostic)
}

/** Marks the errors that code before a session had as well, wherever their lines are now; each of those counts once. */
export function markOlder(diagnostics: readonly Diagnostic[], before: readonly Diagnostic[]): Diagnostic[] {
  const left = before.map(formOfError)
  return diagnostics.map((one) => {
    const index = left.indexOf(formOfError(one))
    if (index < 0) return one
    left.splice(index, 1)
    return { ...one, older: true }
  })
}

const formOfError = ({ severity, summary, detail, file }: Diagnostic): string =>
  JSON.stringify([severity, summary, detail.replaceAll(/\s+/g, ' ').trim(), file])

/** Reports whether two diagnostics are the same: an engine repeats one in each pass over the code. */
const isRepeated = (a: Diagnostic, b: Diagnostic) =>
  a.line === b.line && a.detail === b.detail && a.address === b.address

function mergeDiagnostics(earlier: Diagnostic, other: Diagnostic): Diagnostic {
  const [first, later] = (other.line ?? Infinity) < (earlier.line ?? Infinity) ? [other, earlier] : [earlier, other]
  const details = first.detail.includes(later.detail)
    ? first.detail
    : `${first.detail}\n${placeOf(later)}${later.detail}`
  return { ...first, detail: details, count: earlier.count + other.count }
}

const placeOf = ({ line, address }: Diagnostic) =>
  line === null ? (address === null ? '' : `${address}: `) : `line ${line}: `

const MAX_SHOWN = 12
/** Limits in characters: one detail, one snippet, one hint, the whole text. */
const MAX_DETAIL = 1_200
const MAX_SNIPPET = 1_500
const MAX_HINT = 800
const MAX_CHARS = 16_000

/** Renders ordered diagnostics for a model: 12 errors in full, 3 warning summaries; empty without errors. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return ''
  const entries = errors.slice(0, MAX_SHOWN).map((error, index) => `${index + 1}. ${renderEntry(error)}`)
  const left = errors.length - entries.length
  const warnings = diagnostics
    .filter(({ severity }) => severity === 'warning')
    .map(({ summary }) => `Warning: ${summary}`)
  const lines = [...entries, ...(left > 0 ? [`and ${left} more errors`] : []), ...warnings.slice(0, 3)]
  return cutMiddle(lines.join('\n\n'), MAX_CHARS)
}

function renderEntry(diagnostic: Diagnostic): string {
  const times = diagnostic.count > 1 ? ` (${diagnostic.count} times)` : ''
  const lines = [
    `${diagnostic.summary}${times}${diagnostic.older ? ' [older than this session]' : ''}`,
    renderPlace(diagnostic),
    cutMiddle(diagnostic.detail, MAX_DETAIL),
    cutMiddle(diagnostic.snippet, MAX_SNIPPET),
    cutMiddle(diagnostic.hint ?? '', MAX_HINT),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

function renderPlace({ file, line, context, address }: Diagnostic): string {
  const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}`
  return [place, context === null ? '' : `in ${context}`, address === null ? '' : `with ${address}`]
    .filter(Boolean)
    .join(', ')
}
