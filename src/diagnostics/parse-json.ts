import type { EngineDiagnostic } from '../services/iac/additions.ts'
import type { Diagnostic } from './types.ts'

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
