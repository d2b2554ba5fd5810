import { describe, expect, it } from 'vitest'
import { parsePlan } from '../../src/plan/plan.ts'
import { newAddresses } from '../../src/plan/planned-changes.ts'

const change = (address: string, ...actions: string[]) => ({
  address,
  type: 'terraform_data',
  name: 'x',
  change: { actions },
})
const plan = (changes: object[], resource_drift?: unknown) =>
  parsePlan(JSON.stringify({ format_version: '1.2', resource_changes: changes, resource_drift }))

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
