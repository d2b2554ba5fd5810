/** The result of a part. */
export interface Outcome {
  part: string
  version: string
  checks: number
  failed: number
  seconds: number
  /** Why it could not be had here. */
  skipped?: string
}

const HEAD = ['Part', 'Version', 'Checks', 'Failed', 'Seconds']

/** The outcomes as a table in Markdown, with even columns. */
export function drawTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ part, version, checks, failed, seconds, skipped }) =>
    skipped === undefined
      ? [part, version, String(checks), String(failed), String(seconds)]
      : [part, `skipped: ${skipped.replaceAll(/\s+/g, ' ').replaceAll('|', '/')}`, '', '', String(seconds)],
  )
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (cells: string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`
  return [
    line(HEAD),
    line(
      HEAD.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
  ].join('\n')
}

/** One plain sentence on the whole run. */
export function closingLine(outcomes: readonly Outcome[]): string {
  const ran = outcomes.filter(({ skipped }) => skipped === undefined)
  const skipped = outcomes.filter((outcome) => outcome.skipped !== undefined).map(({ part }) => part)
  const checks = ran.reduce((sum, outcome) => sum + outcome.checks, 0)
  const failed = ran.reduce((sum, outcome) => sum + outcome.failed, 0)
  const parts = `${ran.length} of ${outcomes.length} parts ran`
  const missing = skipped.length > 0 ? `; skipped: ${skipped.join(', ')}` : ''
  return failed > 0
    ? `WORLD FAILED: ${failed} of ${checks} checks failed; ${parts}${missing}.`
    : `World passed: ${checks} checks; ${parts}${missing}.`
}
