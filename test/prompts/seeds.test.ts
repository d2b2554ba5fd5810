import { describe, expect, test } from 'vitest'
import { CLOUDS } from '../../src/base/vocabulary.ts'
import { createBuiltinPrompts } from '../../src/prompts/source.ts'
import { readSeedPrompts } from '../../src/runtime/prompts.ts'

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

  test.each(CLOUDS)('%s abbreviates types of its own providers only', (cloud) => {
    const types = bodyOf(`${cloud}-guidelines-abbreviations`)
      .split('\n')
      .filter((line) => line.startsWith('- '))
      .map((line) => /^- ([a-z0-9_]+):/.exec(line)?.[1] ?? line)
    expect(types.filter((type) => !PREFIX[cloud].test(type))).toEqual([])
    expect(types.length).toBeGreaterThan(10)
  })

  test.each(
    CLOUDS.filter((cloud) => cloud !== 'kubernetes'),
  )('%s excepts nothing from import until an operator says so', (cloud) => {
    expect(bodyOf(`${cloud}-guidelines-import_exceptions`)).not.toMatch(/^\s*[-*+] /m)
  })

  test('the audit defines its three rules', () => {
    for (const rule of ['scope_exceeded', 'scope_incomplete', 'critical_deletion'])
      expect(bodyOf('general-compliance-report')).toMatch(new RegExp(`^## ${rule}$`, 'm'))
  })

  test.each([...prompts.keys()])('%s is a text of sensible size with a description', (name) => {
    const body = bodyOf(name)
    expect(body.length).toBeGreaterThan(250)
    expect(body.length).toBeLessThan(12_000)
    expect(prompts.get(name)?.description).not.toBe('')
  })

  test('no two prompts are the same', () => {
    const bodies = [...prompts.values()].map((prompt) => prompt.body)
    expect(new Set(bodies).size).toBe(bodies.length)
  })
})

describe('builtin source', () => {
  test('answers bodies by qualified name', async () => {
    expect(await createBuiltinPrompts(prompts).body('aws-resources-s3_bucket')).toContain('aws_s3_bucket')
  })
  test.each(['aws-resources-nothing', '', 'constructor'])('%j is not found', async (name) => {
    await expect(createBuiltinPrompts(prompts).body(name)).rejects.toMatchObject({
      status: 404,
      message: `Prompt not found: ${name}`,
    })
  })
})

const abbreviations = (cloud: string) =>
  new Map(
    [...(prompts.get(`${cloud}-guidelines-abbreviations`)?.body ?? '').matchAll(/^- ([a-z0-9_]+): ([a-z0-9]+)$/gm)].map(
      ([, type = '', short = '']) => [type, short],
    ),
  )

/** A name that begins with its abbreviation has to be valid for the service. */
describe('abbreviations that begin a name', () => {
  test.each([
    ['aws', 'aws_security_group', /^sg$/],
    ['aws', 'aws_ssm_parameter', /^(aws|ssm)/],
    ['aws', 'aws_lb', /^internal$/],
    ['aws', 'aws_s3_bucket', /^(xn|sthree)$/],
    ['azure', 'azurerm_key_vault', /^\d/],
    ['azure', 'azurerm_storage_account', /[^a-z0-9]/],
  ])('%s: %s is not reserved', (cloud, type, reserved) => {
    const short = abbreviations(cloud).get(type)
    expect(short).toBeDefined()
    expect(short).not.toMatch(reserved)
  })
})
