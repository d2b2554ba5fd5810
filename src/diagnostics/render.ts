import { cutMiddle } from '../base/text.ts'
import type { Diagnostic } from './types.ts'

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
