import { describe, expect, it } from 'vitest'
import { fromEngine, parseDiagnostics } from '../../../src/plan/diagnostics/parse.ts'
import { readValidation } from '../../../src/plan/diagnostics/validation.ts'

/** Of Terraform 1.11.4, `validate -json` and `validate -no-color` on the same root. */
const BROKEN = {
  format_version: '1.0',
  valid: false,
  error_count: 2,
  warning_count: 0,
  diagnostics: [
    {
      severity: 'error',
      summary: 'Reference to undeclared local value',
      detail: 'A local value with the name "missing" has not been declared.',
      range: { filename: 'main.tf', start: { line: 2, column: 11, byte: 47 }, end: { line: 2, column: 24, byte: 60 } },
      snippet: {
        context: 'resource "terraform_data" "broken"',
        code: '  input = local.missing',
        start_line: 2,
        highlight_start_offset: 10,
        highlight_end_offset: 23,
        values: [],
      },
    },
    {
      severity: 'error',
      summary: 'Unsupported argument',
      detail: 'An argument named "inptu" is not expected here. Did you mean "input"?',
      range: { filename: 'main.tf', start: { line: 5, column: 3, byte: 97 }, end: { line: 5, column: 8, byte: 102 } },
      snippet: {
        context: 'resource "terraform_data" "b"',
        code: '  inptu = 3',
        start_line: 5,
        highlight_start_offset: 2,
        highlight_end_offset: 7,
        values: [],
      },
    },
  ],
}
const BROKEN_TEXT = `
Error: Reference to undeclared local value

  on main.tf line 2, in resource "terraform_data" "broken":
   2:   input = local.missing

A local value with the name "missing" has not been declared.

Error: Unsupported argument

  on main.tf line 5, in resource "terraform_data" "b":
   5:   inptu = 3

An argument named "inptu" is not expected here. Did you mean "input"?
`

const read = (document: object, exit_code: number, stderr = '') =>
  readValidation({ exit_code, stdout: JSON.stringify(document), stderr })

describe('a validation as data', () => {
  it('is shown as the text that the engine prints', () => {
    const { result, diagnostics } = read(BROKEN, 1)
    expect(result).toEqual({ exit_code: 1, stdout: '', stderr: BROKEN_TEXT })
    expect(diagnostics).toHaveLength(2)
    const known = { ...BROKEN, valid: true, diagnostics: [] }
    expect(read(known, 0).result).toEqual({
      exit_code: 0,
      stdout: 'Success! The configuration is valid.\n',
      stderr: '',
    })
  })

  it('reads the same from the data and from the text', () => {
    const { result, diagnostics } = read(BROKEN, 1)
    expect(parseDiagnostics(result.stderr)).toEqual(fromEngine(diagnostics ?? []).map(withoutPadding))
  })

  it('shows warnings on stdout, addresses, values, several lines, and a place without code', () => {
    const at = { filename: 'a.tf', start: { line: 9 } }
    const warning = { severity: 'warning', summary: 'Old', detail: 'It goes.\nSoon.', address: 'aws_x.y', range: at }
    const values = [{ traversal: 'local.x', statement: 'is 5' }]
    const snippet = { context: null, code: 'a = [\n  local.x,', start_line: 9, values }
    const error = { severity: 'error', summary: 'Bad', detail: '', range: at, snippet }
    const { stdout, stderr } = read({ diagnostics: [error, warning] }, 1, 'more\n').result
    expect(stdout).toBe(
      '\nWarning: Old\n\n  with aws_x.y,\n  on a.tf line 9:\n  (source code not available)\n\nIt goes.\nSoon.\n',
    )
    expect(stderr).toBe(
      '\nError: Bad\n\n  on a.tf line 9:\n   9: a = [\n  10:   local.x,\n    ├────────────────\n    │ local.x is 5\n\nmore\n',
    )
    expect(read({ diagnostics: [warning] }, 0).result.stdout).toMatch(
      /\n {2}\(source.*\n\nIt goes.\nSoon.\nSuccess! .*, but/,
    )
  })

  it.each([
    '',
    'Success! The configuration is valid.\n',
    '{"diagnostics": 3}',
    '{"diagnostics": [{"severity": 1}]}',
  ])('leaves a result without data as it is: %j', (stdout) => {
    const result = { exit_code: 1, stdout, stderr: 'Error: Refused\n' }
    expect(readValidation(result)).toEqual({ result, diagnostics: null })
  })
})

/** The text numbers the lines of code as the data do, whatever stands around them. */
const withoutPadding = <Entry extends { snippet: string }>(entry: Entry): Entry => ({
  ...entry,
  snippet: entry.snippet.trimEnd(),
})
