import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { missingVariables } from '../../config/provider-variables.ts'
import { databaseSchema, redisSchema, telemetrySchema } from '../../config/sections/connections.ts'
import { gitSchema } from '../../config/sections/git.ts'
import { httpSchema } from '../../config/sections/http.ts'
import { llmSchema } from '../../config/sections/llm.ts'
import { accessSchema, adminSchema, oidcSchema } from '../../config/sections/oidc.ts'
import {
  auditSchema,
  environmentSchema,
  orchestrationSchema,
  pathsSchema,
  retentionSchema,
  workerSchema,
} from '../../config/sections/processes.ts'
import { authzSchema, iacSchema, optionalServiceSchema } from '../../config/sections/services.ts'
import { storageSchema } from '../../config/sections/storage.ts'
import { at, load } from './support.ts'

/** Every section of the file by dotted path; an empty path is the top level. */
const SECTIONS = {
  '': environmentSchema,
  oidc: oidcSchema,
  admin: adminSchema,
  access: accessSchema,
  'services.iac': iacSchema,
  'services.notifications': optionalServiceSchema,
  'services.mapping': optionalServiceSchema,
  'services.authz': authzSchema,
  orchestration: orchestrationSchema,
  llm: llmSchema,
  paths: pathsSchema,
  database: databaseSchema,
  redis: redisSchema,
  telemetry: telemetrySchema,
  http: httpSchema,
  storage: storageSchema,
  git: gitSchema,
  worker: workerSchema,
  retention: retentionSchema,
  audit: auditSchema,
} as const

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
      .map(({ field }) => [String(values[field]), section === 'database' ? 'postgresql://h/d' : 'value'.repeat(7)])
    const providers = ['openai', 'perplexity']
      .flatMap((provider) => missingVariables(provider, () => false))
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

const shipped = await readFile(new URL('../../config/platform.yaml', import.meta.url), 'utf8')
const ENV = { VERTEXAI_PROJECT: 'p', VERTEXAI_LOCATION: 'l' }

describe('config/platform.yaml', () => {
  test.each([
    ['orchestration.enable_compliance_checker', true],
    ['orchestration.block_on_high_impact', true],
    ['orchestration.max_validation_iteration', 5],
    ['services.notifications.enabled', false],
    ['services.notifications.endpoint', 'http://notifications:8080'],
    ['services.notifications.token_env', 'PLATFORM_NOTIFICATIONS_TOKEN'],
    ['services.mapping.enabled', false],
    ['services.mapping.endpoint', 'http://mapping:8081'],
    ['services.mapping.token_env', 'PLATFORM_MAPPING_TOKEN'],
    ['services.authz.enabled', false],
    ['services.authz.endpoint', 'http://authz:8083'],
    ['services.authz.token_env', 'PLATFORM_AUTHZ_TOKEN'],
  ])('%s is %s', async (path, value) => {
    expect(at(await load(shipped, ENV), path)).toBe(value)
  })

  test('everything else is the code default', async () => {
    const { services, orchestration, llm, ...rest } = await load(shipped, ENV)
    const defaults = await load(null, ENV)
    expect({ ...rest, iac: services.iac }).toEqual({
      ...Object.fromEntries(
        Object.entries(defaults).filter(([key]) => !['services', 'orchestration', 'llm'].includes(key)),
      ),
      iac: defaults.services.iac,
    })
    const { google_credentials_file: _, ...rest_of_llm } = llm
    expect(rest_of_llm).toEqual({ ...defaults.llm, model: llm.model, small_model: llm.small_model })
    expect(orchestration).toEqual({
      ...defaults.orchestration,
      enable_compliance_checker: true,
      block_on_high_impact: true,
      max_validation_iteration: 5,
    })
  })

  test('the list of sections is complete', async () => {
    const top = Object.keys(SECTIONS).map((path) => path.split('.')[0] || 'environment')
    const { version: _, ...config } = await load()
    expect([...new Set(top)].sort()).toEqual(Object.keys(config).sort())
    expect(Object.keys(parse(shipped)).sort()).toEqual(Object.keys(config).sort())
  })

  test.each(fields)('names $path', ({ path }) => {
    expect(at(parse(shipped), path)).toBeDefined()
  })

  test('an orchestration block that omits the gates turns them off', async () => {
    const { orchestration } = await load('orchestration: {max_drift_reports: 3}')
    expect(orchestration).toMatchObject({ enable_compliance_checker: false, block_on_high_impact: false })
  })
})
