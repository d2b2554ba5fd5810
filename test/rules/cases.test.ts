import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readRuleIds } from '../../src/rules/ids.ts'
import { listRules, RULES, ruleTables } from '../../src/rules/index.ts'
import { awsCases } from './cases/aws.ts'
import { awsExposureCases } from './cases/aws-exposure.ts'
import { azureCases } from './cases/azure.ts'
import { commonCases } from './cases/common.ts'
import { gcpCases } from './cases/gcp.ts'
import { kubernetesCases } from './cases/kubernetes.ts'
import { networkCases } from './cases/network.ts'
import { ociCases } from './cases/oci.ts'
import { policyCases } from './cases/policies.ts'
import { elsewhereCases } from './cases/policies-elsewhere.ts'
import { findingsOf } from './support.ts'

const cases = [
  ...commonCases,
  ...networkCases,
  ...awsCases,
  ...awsExposureCases,
  ...azureCases,
  ...gcpCases,
  ...ociCases,
  ...policyCases,
  ...elsewhereCases,
  ...kubernetesCases,
]

it.each(cases)('$rule, $name: found $found', ({ rule, name: _, found, ...change }) => {
  const findings = findingsOf(change).filter(({ rule_id }) => rule_id === rule)
  expect(findings.length > 0).toBe(found)
})

describe('the table', () => {
  it('holds each id once, and gives all of them to the configuration', async () => {
    const ids = RULES.map(({ id }) => id)
    expect(await readRuleIds()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it.each(RULES.map((rule) => ({ ...rule })))('$id says what, why and how, and has cases of both kinds', (rule) => {
    expect(rule.id).toMatch(/^(common|aws|azure|gcp|oci|kubernetes)(\.[a-z][a-z0-9-]*){2}$/)
    for (const text of [rule.title, rule.reason, rule.fix]) expect(text).toMatch(/^\S.{8,}$/)
    const own = cases.filter((each) => each.rule === rule.id)
    expect(own.map(({ found }) => found)).toEqual(expect.arrayContaining([true, false]))
  })
})

it('docs/rules.md says what the table says', async () => {
  const page = await readFile(new URL('../../docs/rules.md', import.meta.url), 'utf8')
  const introduction = page.slice(0, page.indexOf('## '))
  await expect(`${introduction}${ruleTables()}`).toMatchFileSnapshot('../../docs/rules.md')
})

it('the list has a line for every rule, with the grade in force', async () => {
  const lines = listRules({ 'oci.iam.any-user': 'off' }).trimEnd().split('\n')
  expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(await readRuleIds())
  expect(lines.find((line) => line.includes('oci.iam.any-user'))).toMatch(/^off {7}oci/)
  expect(lines.find((line) => line.includes('aws.network.open-all-ports'))).toMatch(/^critical {2}aws/)
})
