import { describe, expect, test } from 'vitest'
import { readSeedPrompts } from '../../src/runtime/prompts.ts'

const prompts = await readSeedPrompts()
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
