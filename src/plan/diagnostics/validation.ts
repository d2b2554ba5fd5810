import * as v from 'valibot'
import { parseJson } from '../../base/json.ts'
import { DiagnosticsSchema, type EngineDiagnostic, type EngineResult } from '../../services/iac/contract.ts'

/** The result of a validation as the engine prints it for people, and what it found as data. */
export interface Validation {
  result: EngineResult
  /** Null when the engine gave no data, as one that was refused. */
  diagnostics: EngineDiagnostic[] | null
}

/** Reads the result of a validation with `json`: errors become the text of stderr, warnings that of stdout. */
export function readValidation(result: EngineResult): Validation {
  const parsed = v.safeParse(DiagnosticsSchema, parseJson(result.stdout))
  if (!parsed.success) return { result, diagnostics: null }
  const diagnostics = parsed.output
  const isError = ({ severity }: EngineDiagnostic) => severity === 'error'
  const warnings = diagnostics.filter((one) => !isError(one)).map(renderForPeople)
  const verdict = warnings.length === 0 ? VALID : VALID_WITH_WARNINGS
  const stdout = [...warnings, ...(result.exit_code === 0 ? [verdict] : [])].join('')
  const stderr = `${diagnostics.filter(isError).map(renderForPeople).join('')}${result.stderr}`
  return { result: { ...result, stdout, stderr }, diagnostics }
}

const VALID = 'Success! The configuration is valid.\n'
const VALID_WITH_WARNINGS =
  'Success! The configuration is valid, but there were some validation warnings as shown above.\n'

/** Renders a diagnostic as the engine does without colours. */
function renderForPeople({ severity, summary, detail, address, range, snippet }: EngineDiagnostic): string {
  const place = range ? [`  on ${range.filename} line ${range.start.line}${contextOf(snippet)}:`] : []
  const code = snippet
    ? snippet.code.split('\n').map((line, index) => `${String(snippet.start_line + index).padStart(4)}: ${line}`)
    : ['  (source code not available)']
  const values = (snippet?.values ?? []).map(({ traversal, statement }) => `    │ ${traversal} ${statement}`)
  const lines = [
    '',
    `${severity === 'warning' ? 'Warning' : 'Error'}: ${summary}`,
    '',
    ...(address ? [`  with ${address}${range ? ',' : ':'}`] : []),
    ...place,
    ...(range ? code : []),
    ...(values.length > 0 ? ['    ├────────────────', ...values] : []),
    ...(address || range ? [''] : []),
    ...(detail === '' ? [] : [detail]),
    '',
  ]
  return lines.join('\n')
}

const contextOf = (snippet: EngineDiagnostic['snippet']): string => (snippet?.context ? `, in ${snippet.context}` : '')
