import { expect, it } from 'vitest'
import { RULE_IDS } from '../../config/rule-ids.ts'
import { listRules, rulesPage } from '../../src/rules/list.ts'

it('docs/rules.md says what the table says', async () => {
  await expect(rulesPage()).toMatchFileSnapshot('../../docs/rules.md')
})

it('the list has a line for every rule, with the grade in force', () => {
  const lines = listRules({ 'oci.iam.any-user': 'off' }).trimEnd().split('\n')
  expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(RULE_IDS)
  expect(lines.find((line) => line.includes('oci.iam.any-user'))).toMatch(/^off {7}oci/)
  expect(lines.find((line) => line.includes('aws.network.open-all-ports'))).toMatch(/^critical {2}aws/)
})
