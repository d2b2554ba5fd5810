import { readFile } from 'node:fs/promises'
import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'

/** Reads recorded engine output of real code. */
export const recorded = (name: string) => readFile(new URL(`fixtures/${name}`, import.meta.url), 'utf8')

export const diagnosticOf = (fields: Partial<Diagnostic>): Diagnostic => ({
  severity: 'error',
  summary: 'Something',
  detail: '',
  file: null,
  line: null,
  context: null,
  address: null,
  snippet: '',
  count: 1,
  ...fields,
})
