import { describe, expect, it } from 'vitest'
import { actionOf } from '../../src/plan/actions.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { newAddresses, planCounts, plannedChanges } from '../../src/plan/planned-changes.ts'
import { changesJson, planOf, planWith } from './fixtures.ts'

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

const change = (address: string, ...actions: string[]) => ({ address, change: { actions } })
const plan = (changes: object[], resource_drift?: unknown) => planWith({ resource_changes: changes, resource_drift })

describe('resources that the state never held', () => {
  it('are those that are only created', () => {
    const all = [
      change('a.new', 'create'),
      change('a.replaced', 'delete', 'create'),
      change('a.changed', 'update'),
      change('a.same', 'no-op'),
    ]
    expect([...newAddresses(plan(all))]).toEqual(['a.new'])
  })

  it('do not include what was deleted behind the back of the engine', () => {
    const drift = [change('a.gone', 'delete'), change('a.edited', 'update')]
    expect([
      ...newAddresses(
        plan([change('a.gone', 'create'), change('a.edited', 'create'), change('a.new', 'create')], drift),
      ),
    ]).toEqual(['a.edited', 'a.new'])
  })

  it('are found whatever stands in resource_drift', () => {
    for (const odd of [
      null,
      'x',
      [null, 1, {}, { address: 'a.new' }, { address: 'a.new', change: { actions: 'delete' } }],
    ])
      expect([...newAddresses(plan([change('a.new', 'create')], odd))]).toEqual(['a.new'])
  })
})
