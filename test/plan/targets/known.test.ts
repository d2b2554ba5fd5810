import { describe, expect, it } from 'vitest'
import { parsePlan } from '../../../src/plan/plan.ts'
import { hasMatchingTarget } from '../../../src/plan/targets.ts'

const change = { actions: ['no-op'], before: null, after: null }
const plan = parsePlan(
  JSON.stringify({
    format_version: '1.2',
    configuration: {},
    resource_changes: [{ address: 'x.code["k"]', mode: 'managed', type: 'x', name: 'code', change }],
    resource_drift: [{ address: 'x.moved', previous_address: 'x.before', change }],
    prior_state: {
      values: {
        root_module: {
          resources: [{ address: 'x.state' }],
          child_modules: [{ resources: [{ address: 'module.m.data.x.d' }] }],
        },
      },
    },
    planned_values: { root_module: { child_modules: [{ resources: [{ address: 'module.new.x.a' }] }] } },
  }),
)

describe('namesAnything', () => {
  it.each(['x.code', 'x.code["k"]', 'x.moved', 'x.before', 'x.state', 'module.m', 'module.new'])('%s', (target) => {
    expect(hasMatchingTarget(plan, [target])).toBe(true)
    expect(hasMatchingTarget(plan, ['x.imagined', target])).toBe(true)
  })
  it.each(['x.cod', 'x.code["other"]', 'module.x', 'module.n', 'imagined', ''])('not %j', (target) => {
    expect(hasMatchingTarget(plan, [target])).toBe(false)
  })
  it('the whole root always does, also an empty one', () => {
    expect(hasMatchingTarget(parsePlan('{"format_version":"1.2"}'), [])).toBe(true)
    expect(
      hasMatchingTarget(parsePlan('{"format_version":"1.2","configuration":{},"prior_state":3,"resource_drift":{}}'), [
        'x.a',
      ]),
    ).toBe(false)
  })
  it('cannot be told from a document without the code', () => {
    expect(hasMatchingTarget(parsePlan('{"format_version":"1.2","resource_changes":[]}'), ['x.a'])).toBe(true)
  })
})
