import { describe, expect, it } from 'vitest'
import { actionOf } from '../../src/plan/actions.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { planCounts, plannedChanges } from '../../src/plan/planned-changes.ts'
import { changesJson, planOf } from './fixtures.ts'

describe('actionOf', () => {
  it.each([
    [['create'], 'create'],
    [['update'], 'update'],
    [['delete'], 'delete'],
    [['delete', 'create'], 'replace'],
    [['create', 'delete'], 'replace'],
    [['create', 'forget'], 'replace'],
    [['no-op'], 'none'],
    [['read'], 'none'],
    [['forget'], 'none'],
    [['open'], 'none'],
    [[], 'none'],
  ])('%j is %s', (actions, expected) => {
    expect(actionOf(actions)).toBe(expected)
  })
})

describe('a real plan', () => {
  const plan = parsePlan(changesJson)

  it('counts a replacement once, and neither moved, forgotten nor unchanged objects', () => {
    expect(planCounts(plan)).toEqual({ create: 1, update: 1, delete: 1, replace: 1 })
  })

  it('lists what changes', () => {
    expect(plannedChanges(plan)).toEqual([
      { address: 'terraform_data.added', type: 'terraform_data', action: 'create' },
      { address: 'terraform_data.edit', type: 'terraform_data', action: 'update' },
      { address: 'terraform_data.gone', type: 'terraform_data', action: 'delete' },
      { address: 'terraform_data.replace', type: 'terraform_data', action: 'replace' },
    ])
  })
})

it('leaves data sources out and names leftover objects', () => {
  const plan = planOf([
    { address: 'data.aws_ami.x', type: 'aws_ami', mode: 'data', actions: ['create'] },
    { address: 'aws_instance.web', type: 'aws_instance', deposed: 'ab12', actions: ['delete'] },
  ])
  expect(plannedChanges(plan)).toEqual([
    { address: 'aws_instance.web (deposed object ab12)', type: 'aws_instance', action: 'delete' },
  ])
})
