import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { formsOf } from '../../sidecars/iac/output/secrets.ts'
import { createMasker, MASK } from '../../src/base/masking.ts'
import { TOKEN_KINDS } from '../../src/base/secret-forms.ts'
import { escapedForms, urlForms } from '../../src/base/text.ts'

const page = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| ([^|]+) \| `([^|]+)` \| `([^|]+)` \|$/gm)].map(([, , value = '', form = '']) => ({
  value,
  form,
}))

it('names every known form of a secret in requests', () => {
  const [, list = ''] = /^- Known forms, wherever they stand: (.+)\.$/m.exec(page) ?? []
  expect(list.split('; ')).toEqual(TOKEN_KINDS)
})

it('shows forms in which sensitive values are masked', () => {
  expect(rows.length).toBeGreaterThan(10)
  for (const { value, form } of rows) {
    expect(createMasker([value]).text(`at "${form}" end`)).toBe(`at "${MASK}" end`)
    expect([...formsOf(value)].map(String)).toContain(form)
  }
})

const shown = (value: string) => [value, ...rows.filter((row) => row.value === value).map(({ form }) => form)]
const inJson = (forms: readonly string[]) => [...forms, ...forms.map((form) => JSON.stringify(form).slice(1, -1))]

it('shows every form of a value in an address', () => {
  expect(new Set(shown('p@ss/word 1'))).toEqual(new Set(['p@ss/word 1', ...urlForms('p@ss/word 1')]))
})

it.each([
  ['pa&ss<word>1', 2],
  ['grün-1234', 3],
  ['ab/cd/ef12', 3],
  [`ab\${c}de-%{x}`, 3],
])('shows every form of %s in documents, up to %d levels deep', (value, levels) => {
  let forms = shown(value)
  for (let level = 0; level < levels; level++) forms = inJson(forms)
  expect(escapedForms(value)).toEqual(new Set(forms))
})
