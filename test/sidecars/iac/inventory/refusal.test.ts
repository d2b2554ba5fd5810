import { expect, it } from 'vitest'
import { codeOf, messageOf } from '../../../../sidecars/iac/inventory/http.ts'

it('reads code and message of an XML document, blanks around them left out', () => {
  const xml = '<Error><Code> AccessDenied\n</Code><Message>\n  The role may\n  not list. </Message></Error>'
  expect(codeOf(xml, new Headers())).toBe('AccessDenied')
  expect(messageOf(xml)).toBe('The role may not list.')
})

it('takes blanks that never end in reasonable steps', () => {
  expect(messageOf(`<Error><Message>${' '.repeat(1_000_000)}`)).toBe('')
})
