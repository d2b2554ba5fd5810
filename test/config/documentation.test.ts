import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { requiredVariables } from '../../config/provider-variables.ts'
import { optionalServiceSchema } from '../../config/sections/services.ts'
import { SECTIONS } from './sections.ts'
import { at, load } from './support.ts'

const OPTIONAL = ['services.notifications', 'services.mapping', 'services.authz']
const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
const code = (cell: string) => /^`(.*)`$/.exec(cell)?.[1] ?? ''

/** Rows of the tables of fields, by path. */
const rows = new Map(
  page
    .split('\n')
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()))
    .filter((cells) => cells.length === 4 && /^`[a-z_.<>]+`$/.test(cells[0] ?? ''))
    .map(([path = '', fallback = '', rule = '', example = '']) => [
      code(path),
      { fallback: code(fallback), rule, example: code(example) },
    ]),
)

const fields = Object.entries(SECTIONS).flatMap(([section, schema]) =>
  Object.entries(v.getDefaults(schema)).map(([field, fallback]) => {
    const path = section === '' ? field : `${section}.${field}`
    const isShared = OPTIONAL.includes(section) && field in optionalServiceSchema.entries
    const documented = isShared ? `services.<name>.${field}` : path
    return { section, field, path, documented, fallback }
  }),
)

const shown = (value: unknown) => {
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  return value === '' || typeof value === 'object' ? JSON.stringify(value) : String(value)
}

describe('docs/configuration.md', () => {
  test.each(fields)('describes $path with its default, rule and example', ({ documented, fallback }) => {
    const row = rows.get(documented)
    expect(row).toBeDefined()
    expect(row?.fallback).toBe(shown(fallback))
    expect(row?.rule).not.toBe('')
    expect(row?.example).not.toBe('')
  })

  test('describes nothing else', () => {
    const known = new Set(fields.map(({ documented }) => documented))
    expect([...rows.keys()].filter((path) => !known.has(path))).toEqual([])
  })

  const sections = [...new Set(fields.map(({ section }) => section))]
  test.each(sections)('the examples of section "%s" load together, and each replaces its default', async (section) => {
    const examples = fields.filter((field) => field.section === section)
    const values = Object.fromEntries(
      examples.map(({ field, documented }) => [field, parse(rows.get(documented)?.example ?? '')]),
    )
    const nested =
      section === '' ? values : section.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), values)
    const named = examples
      .filter(({ field }) => field.endsWith('_env'))
      .map(({ field }) => [String(values[field]), 'value'.repeat(7)])
    const providers = ['openai', 'perplexity']
      .flatMap((provider) => requiredVariables(provider) ?? [])
      .map((name) => [name, 'key'])
    const config = await load(stringify(nested), Object.fromEntries([...named, ...providers]))
    for (const { path, field, fallback } of examples)
      if (!field.endsWith('_env')) expect(at(config, path), path).not.toEqual(fallback)
  })
})

test('.env.example names only variables that the platform reads', async () => {
  const example = await readFile(new URL('../../.env.example', import.meta.url), 'utf8')
  const names = [...example.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name)
  expect(names).toContain('PLATFORM_SQL_DATABASE_URL')
  for (const name of names) expect(page).toContain(`\`${name}\``)
})
