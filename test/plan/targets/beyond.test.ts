import { describe, expect, it } from 'vitest'
import { planFacts } from '../../../src/plan/change-list.ts'
import { type BeyondTargets, changesBeyond, describeBeyondTargets } from '../../../src/plan/targets.ts'
import { planOf } from '../fixtures.ts'

const whole = planOf([
  { address: 'terraform_data.asked', actions: ['create'] },
  { address: 'terraform_data.pending', actions: ['update'] },
  { address: 'terraform_data.gone', actions: ['delete'] },
  { address: 'terraform_data.gone', actions: ['delete'], deposed: 'abcd1234' },
  { address: 'terraform_data.same', actions: ['no-op'] },
  { address: 'terraform_data.forgotten', actions: ['forget'] },
  { address: 'data.terraform_data.read', mode: 'data', actions: ['read'] },
])

describe('changesBeyond', () => {
  it('names what only the plan of the whole root changes', () => {
    const targeted = planOf([{ address: 'terraform_data.asked', actions: ['create'] }])
    expect(changesBeyond(targeted, whole).map(({ action, address }) => `${action} ${address}`)).toEqual([
      'update terraform_data.pending',
      'delete terraform_data.gone',
      'delete terraform_data.gone (deposed object abcd1234)',
    ])
  })

  it('counts what the targeted plan leaves as it is as outside, and the same address once only', () => {
    const targeted = planOf([
      { address: 'terraform_data.asked', actions: ['update'] },
      { address: 'terraform_data.pending', actions: ['no-op'] },
    ])
    expect(changesBeyond(targeted, whole).map(({ address }) => address)).toEqual([
      'terraform_data.pending',
      'terraform_data.gone',
      'terraform_data.gone (deposed object abcd1234)',
    ])
  })

  it('is empty when both agree', () => {
    expect(changesBeyond(whole, whole)).toEqual([])
  })
})

describe('beyondText', () => {
  const made = (count: number): BeyondTargets => ({
    made: true,
    changes: Array.from({ length: count }, (_, index) => ({
      address: `a.b[${index}]`,
      type: 'a',
      action: 'update' as const,
    })),
  })

  it('lists each change on a line of its own', () => {
    expect(describeBeyondTargets(made(1))).toBe(
      'A plan of the whole root would also make a change that this plan leaves out:\n- update a.b[0]',
    )
    expect(describeBeyondTargets(made(2)).split('\n').slice(1)).toEqual(['- update a.b[0]', '- update a.b[1]'])
  })

  it('stays short for thousands of changes', () => {
    const lines = describeBeyondTargets(made(3_000)).split('\n')
    expect(lines).toHaveLength(52)
    expect(lines[0]).toContain('3000 changes')
    expect(lines.at(-1)).toBe('- and 2950 more')
  })

  it('says that there are none, or why nobody knows', () => {
    expect(describeBeyondTargets(made(0))).toBe('A plan of the whole root changes nothing outside the targets.')
    expect(describeBeyondTargets({ made: false, reason: 'Error: no credentials' })).toBe(
      'What a plan of the whole root would change outside the targets could not be determined: Error: no credentials',
    )
  })

  it('reaches the facts as no part of the plan', () => {
    expect(planFacts(planOf([]), ['a.b'], made(1)).split('\n').slice(1)).toEqual([
      'Not part of this plan, for information only: A plan of the whole root would also make a change that this ' +
        'plan leaves out:',
      '- update a.b[0]',
    ])
  })
})
