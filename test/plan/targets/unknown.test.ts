import { describe, expect, it } from 'vitest'
import { parsePlan } from '../../../src/plan/plan.ts'
import { findUnknownTargets, findUnplannedBlocks } from '../../../src/plan/targets.ts'

const plan = parsePlan(
  JSON.stringify({
    format_version: '1.2',
    resource_changes: [
      { address: 'x.now', previous_address: 'x.before', change: { actions: ['no-op'], before: {}, after: {} } },
      { address: 'x.many["a"]', change: { actions: ['create'], before: null, after: {} } },
    ],
    resource_drift: [{ address: 'x.lost', change: { actions: ['delete'] } }],
    prior_state: { values: { root_module: { child_modules: [{ resources: [{ address: 'module.s.x.kept' }] }] } } },
    configuration: {
      root_module: {
        resources: [{ address: 'x.many' }, { address: 'x.none' }, { address: 'data.y.z' }],
        module_calls: { c: { module: { resources: [{ address: 'x.in' }], module_calls: { d: {} } } } },
      },
    },
  }),
)

describe('findUnknownTargets', () => {
  it.each([
    ['x.now'],
    ['x.before'],
    ['x.many'],
    ['x.many["a"]'],
    ['x.none'],
    ['x.lost'],
    ['data.y.z'],
    ['module.s'],
    ['module.s.x.kept'],
    ['module.c'],
    ['module.c.x.in'],
    ['module.c.module.d'],
  ])('knows %s', (target) => {
    expect(findUnknownTargets(plan, [target])).toEqual([])
  })

  it.each([
    ['x.nowhere'],
    ['x.many["b"]'],
    ['module.e'],
    ['module.c.x.out'],
    ['x'],
    ['var.v'],
  ])('does not know %s', (target) => {
    expect(findUnknownTargets(plan, ['x.now', target])).toEqual([target])
  })

  it('says nothing when the document does not say what the code declares', () => {
    for (const configuration of [undefined, {}, { root_module: 3 }])
      expect(
        findUnknownTargets(parsePlan(JSON.stringify({ format_version: '1.2', configuration })), ['x.nowhere']),
      ).toEqual([])
  })
})

describe('findUnplannedBlocks', () => {
  it('names the blocks of the code that neither the plan nor the state has, in modules as well', () => {
    const resource = (address: string, mode = 'managed') => ({ address, mode })
    const partial = parsePlan(
      JSON.stringify({
        format_version: '1.2',
        resource_changes: [{ address: 'x.planned[0]', mode: 'managed', change: { actions: ['create'] } }],
        prior_state: {
          values: { root_module: { resources: [{ address: 'x.kept', mode: 'managed', values: { id: 'i' } }] } },
        },
        configuration: {
          root_module: {
            resources: [
              ...['x.planned', 'x.kept', 'x.beside'].map((name) => resource(name)),
              resource('data.y.z', 'data'),
            ],
            module_calls: { m: { module: { resources: [resource('x.in')] } } },
          },
        },
      }),
    )
    expect(findUnplannedBlocks(partial)).toEqual(['x.beside', 'module.m.x.in'])
  })

  it('is silent where the plan does not say what the code declares', () => {
    expect(findUnplannedBlocks(parsePlan(JSON.stringify({ format_version: '1.2', resource_changes: [] })))).toEqual([])
  })
})
