import type { AttemptDetail, AttemptDiagnostic } from '../../src/rounds/attempts.ts'
import type { Row } from './display.ts'

/** Most diagnostics that are shown of an attempt. */
const MAX_SHOWN = 3

/** Rows for the attempts that did not end well, each with what was found. Nothing when the first one passed. */
export function attemptRows(attempts: readonly AttemptDetail[]): Row[] {
  if (attempts.length < 2 && attempts[0]?.outcome === 'accepted') return []
  return attempts.map((attempt) => ({
    heading: `attempt ${attempt.number}`,
    text: describeAttempt(attempt),
    below: attempt.diagnostics.slice(0, MAX_SHOWN).flatMap(describeDiagnostic),
  }))
}

function describeAttempt({ outcome, steps, diagnostics_total, commit }: AttemptDetail): string {
  const took = steps.reduce((sum, { seconds }) => sum + seconds, 0)
  const failed = steps.find((step) => step.outcome === 'failed')
  const words = [
    `${outcome ?? 'running'}${failed ? ` at ${failed.name}` : ''}`,
    `${took.toFixed(1)} s`,
    ...(commit ? [commit.slice(0, 8)] : []),
    ...(diagnostics_total > MAX_SHOWN ? [`${diagnostics_total} findings`] : []),
  ]
  return words.join(', ')
}

function describeDiagnostic({ file, line, summary, snippet }: AttemptDiagnostic): string[] {
  const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}  `
  const lines = snippet.split('\n').filter((text) => text.trim() !== '')
  return [`${place}${summary}`, ...lines.map((text) => `    ${text}`)]
}
