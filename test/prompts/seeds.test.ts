import { describe, expect, test } from 'vitest'
import { builtinPrompts } from '../../src/prompts/builtin.ts'
import { readSeedPrompts } from '../../src/runtime/read-seed-prompts.ts'
import { CLOUDS } from '../../src/sessions/types.ts'

const prompts = await readSeedPrompts()
const bodyOf = (name: string) => prompts.get(name)?.body ?? ''
const GUIDELINES = [
  'abbreviations',
  'resources_list',
  'forbidden_actions',
  'resource_creation',
  'networking',
  'permissions',
  'drift_exceptions',
]
const PREFIX = { aws: /^aws_/, azure: /^azurerm_/, gcp: /^google_/, oci: /^oci_/, kubernetes: /^(kubernetes|helm)_/ }

describe('shipped prompts', () => {
  test.each([
    'general-guidelines-engine',
    'general-guidelines-requests',
    'general-guidelines-targeting_policies',
    'general-compliance-report',
    'general-compliance-impact',
  ])('%s exists', (name) => {
    expect(bodyOf(name)).not.toBe('')
  })

  test.each(CLOUDS)('%s has every guideline', (cloud) => {
    for (const name of GUIDELINES) expect(bodyOf(`${cloud}-guidelines-${name}`), name).not.toBe('')
    expect(prompts.has(`${cloud}-guidelines-import_exceptions`)).toBe(cloud !== 'kubernetes')
  })

  test.each(CLOUDS)('%s lists exactly the resource prompts that exist', (cloud) => {
    const listed = [...bodyOf(`${cloud}-guidelines-resources_list`).matchAll(/^- `([a-z0-9_]+)`: \S/gm)].map(([, name]) => name)
    const existing = [...prompts.keys()].filter((name) => name.startsWith(`${cloud}-resources-`)).map((name) => name.split('-')[2])
    expect(listed.sort()).toEqual(existing.sort())
    expect(listed.length).toBeGreaterThanOrEqual(4)
  })

  test.each(CLOUDS)('%s abbreviates each type once', (cloud) => {
    const lines = bodyOf(`${cloud}-guidelines-abbreviations`)
      .split('\n')
      .filter((line) => line.startsWith('- '))
    const types = lines.map((line) => /^- ([a-z0-9_]+): [a-z0-9]+$/.exec(line)?.[1] ?? line)
    expect(types.filter((type) => !PREFIX[cloud].test(type))).toEqual([])
    expect(new Set(types).size).toBe(types.length)
  })

  test.each(CLOUDS.filter((cloud) => cloud !== 'kubernetes'))('%s excepts nothing from import until an operator says so', (cloud) => {
    expect(bodyOf(`${cloud}-guidelines-import_exceptions`)).not.toMatch(/^\s*[-*+] /m)
  })

  test('the audit defines its three rules', () => {
    for (const rule of ['scope_exceeded', 'scope_incomplete', 'critical_deletion'])
      expect(bodyOf('general-compliance-report')).toMatch(new RegExp(`^## ${rule}$`, 'm'))
  })

  test.each([...prompts.keys()])('%s is a finished text', (name) => {
    const body = bodyOf(name)
    expect(body.length).toBeGreaterThan(250)
    expect(body.length).toBeLessThan(12_000)
    expect(body).toMatch(/^# /)
    expect(body).not.toMatch(/\{\{|\{%|\$\{|\bTODO\b|\bFIXME\b|\bTBD\b|lorem/i)
    expect(prompts.get(name)?.description).not.toBe('')
  })

  test.each(
    [...prompts.keys()].filter((name) => name.includes('-resources-')),
  )('%s says what to set, what goes wrong and what it needs', (name) => {
    for (const heading of ['Set', 'Mistakes', 'Depends on']) expect(bodyOf(name)).toMatch(new RegExp(`^## ${heading}$`, 'm'))
  })

  test('no two prompts are the same', () => {
    const bodies = [...prompts.values()].map((prompt) => prompt.body)
    expect(new Set(bodies).size).toBe(bodies.length)
  })
})

describe('builtin source', () => {
  test('answers bodies by qualified name', async () => {
    expect(await builtinPrompts(prompts).body('aws-resources-s3_bucket')).toContain('aws_s3_bucket')
  })
  test.each(['aws-resources-nothing', '', 'constructor'])('%j is not found', async (name) => {
    await expect(builtinPrompts(prompts).body(name)).rejects.toMatchObject({ status: 404, message: `Prompt not found: ${name}` })
  })
})
