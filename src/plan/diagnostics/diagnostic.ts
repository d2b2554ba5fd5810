import { cutMiddle } from '../../base/text.ts'

/** One thing that the engine says about the code, the environment or a cloud. */
export interface Diagnostic {
  severity: 'error' | 'warning'
  summary: string
  /** May span lines; empty when there is none. */
  detail: string
  /** As the engine names it: relative to the engine root, POSIX; null when it concerns no file. */
  file: string | null
  line: number | null
  /** The block it stands in, for example `resource "aws_s3_bucket" "logs"`. */
  context: string | null
  /** Of the resource instance it concerns. */
  address: string | null
  /** Lines of the code as the engine quotes them, each with its number; empty when there are none. */
  snippet: string
  /** How many alike were found. */
  count: number
}

/** What an error is likely to be: the cause of others, or their consequence. */
const CAUSES: readonly RegExp[] = [
  // The file cannot be read: all that follows may be noise.
  /^(invalid (multi-line string|expression|block definition|character|argument name|escape|template|attribute|number|.* delimiter)|missing (newline|.* separator|close|item|attribute)|unclosed|unterminated|unsupported operator|extra characters|argument or block definition required|invalid type specification|unexpected)/i,
  // What the code stands on is not there.
  /(module not installed|unreadable module|module not found|missing required provider|failed to (query|install|get)|inconsistent dependency|initialization required|invalid provider|duplicate |failed to download|could not (load|download))/i,
  // Names that do not exist.
  /(undeclared|unsupported (argument|attribute|block type)|invalid (resource type|data source|reference|function|"?self"? reference)|call to unknown function|no such|unknown variable|cycle:)/i,
  // Values that do not fit.
  /(missing required argument|incorrect attribute|invalid (value|index|for_each|count|variable)|insufficient|too (many|few)|conflicting|invalid combination)/i,
]

function rank({ severity, summary, detail }: Diagnostic): number {
  if (severity === 'warning') return CAUSES.length + 1
  const found = CAUSES.findIndex((pattern) => pattern.test(summary))
  if (found >= 0) return found
  return /\b(because|depends on|due to) .*\b(error|failed)/i.test(detail) ? CAUSES.length + 0.5 : CAUSES.length
}

/**
 * Causes before consequences, errors before warnings; what says the same about the same file becomes one entry
 * with a count, at its first line.
 */
export function orderDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const merged = new Map<string, Diagnostic>()
  for (const one of diagnostics) {
    const key = JSON.stringify([one.severity, one.summary, one.file])
    const known = merged.get(key)
    if (!known) merged.set(key, one)
    else if (!isRepeated(known, one)) merged.set(key, join(known, one))
  }
  return [...merged.values()]
    .map((one, index) => ({ one, index, rank: rank(one) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ one }) => one)
}

/** Engines repeat a diagnostic for every pass. */
const isRepeated = (a: Diagnostic, b: Diagnostic) =>
  a.line === b.line && a.detail === b.detail && a.address === b.address

function join(known: Diagnostic, other: Diagnostic): Diagnostic {
  const [first, later] = (other.line ?? Infinity) < (known.line ?? Infinity) ? [other, known] : [known, other]
  const details = first.detail.includes(later.detail)
    ? first.detail
    : `${first.detail}\n${placeOf(later)}${later.detail}`
  return { ...first, detail: details, count: known.count + other.count }
}

const placeOf = ({ line, address }: Diagnostic) =>
  line === null ? (address === null ? '' : `${address}: `) : `line ${line}: `

const MAX_SHOWN = 12
const MAX_DETAIL = 1_200
const MAX_SNIPPET = 1_500
const MAX_CHARS = 16_000

/** Diagnostics for a model, cause first; empty without any. Warnings are told only beside errors, by their summary. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return ''
  const shown = errors.slice(0, MAX_SHOWN).map((one, index) => `${index + 1}. ${entry(one)}`)
  const left = errors.length - shown.length
  const warnings = diagnostics
    .filter(({ severity }) => severity === 'warning')
    .map(({ summary }) => `Warning: ${summary}`)
  const lines = [...shown, ...(left > 0 ? [`and ${left} more errors`] : []), ...warnings.slice(0, 3)]
  return cutMiddle(lines.join('\n\n'), MAX_CHARS)
}

function entry(one: Diagnostic): string {
  const times = one.count > 1 ? ` (${one.count} times)` : ''
  const lines = [
    `${one.summary}${times}`,
    where(one),
    cutMiddle(one.detail, MAX_DETAIL),
    cutMiddle(one.snippet, MAX_SNIPPET),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

function where({ file, line, context, address }: Diagnostic): string {
  const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}`
  return [place, context === null ? '' : `in ${context}`, address === null ? '' : `with ${address}`]
    .filter(Boolean)
    .join(', ')
}
