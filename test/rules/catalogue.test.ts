import { describe, expect, it } from 'vitest'
import { RULES } from '../../src/rules/index.ts'
import { checksOf, readVerdicts } from '../suites/world/checkov/verdicts.ts'

describe('the verdicts on a catalogue of checks', async () => {
  const verdicts = await readVerdicts()

  it.each(Object.keys(verdicts))('%s: name rules that there are', (cloud) => {
    const named = verdicts[cloud]?.built.flatMap(({ rules }) => rules) ?? []
    const ids = new Set<string>(RULES.map(({ id }) => id))
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((id) => !ids.has(id))).toEqual([])
  })

  it('give each check one verdict', () => {
    const checks = Object.values(verdicts).flatMap(checksOf)
    expect(checks.length).toBeGreaterThan(900)
    expect(checks.filter((id, index) => checks.indexOf(id) !== index)).toEqual([])
  })

  it('say why a check is not ours', () => {
    for (const { left = [], unseen = [] } of Object.values(verdicts))
      for (const { why } of [...left, ...unseen]) expect(why).toMatch(/^\S.{15,}\.$/)
  })
})
