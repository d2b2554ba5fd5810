import { describe, expect, it } from 'vitest'
import { completeTargets, limitTargets } from '../../../src/plan/targets.ts'

const inRoot = (...addresses: string[]) => addresses.map((address) => ({ address, exact: address }))
const inModule = { address: 'module.m', exact: 'module.m.x.a' }

describe('completeTargets', () => {
  it.each([
    ['adds a block that was missed', ['x.a'], inRoot('x.a', 'x.b', 'module.n'), ['x.a', 'x.b', 'module.n']],
    ['takes an instance for the block', ['x.a["k"]'], inRoot('x.a'), ['x.a["k"]']],
    ['takes something in a module for the module', ['module.m["k"].x.a'], inRoot('module.m'), ['module.m["k"].x.a']],
    ['does not take a similar name for the block', ['x.ab'], inRoot('x.a'), ['x.ab', 'x.a']],
    ['adds the module of a block in it', ['x.b'], [inModule], ['x.b', 'module.m']],
    ['takes the block in a module for itself', ['module.m[0].x.a'], [inModule], ['module.m[0].x.a']],
    ['does not take another block of the module for it', ['module.m.x.b'], [inModule], ['module.m.x.b', 'module.m']],
    ['leaves the whole root as it is', [], inRoot('x.a'), []],
  ])('%s', (_, proposed, blocks, expected) => {
    expect(completeTargets(proposed, { blocks, moved: [] })).toEqual(expected)
  })

  it.each([
    ['adds the other side', ['x.new'], ['x.old', 'x.new'], ['x.new', 'x.old']],
    ['adds both sides', ['x.c'], ['x.old', 'module.m.x.new'], ['x.c', 'x.old', 'module.m.x.new']],
    ['adds the block when an instance alone was named', ['x.a["k"]'], ['x.a', 'x.a["k"]'], ['x.a["k"]', 'x.a']],
    ['adds nothing that a module includes', ['module.m'], ['module.m.x.a', 'module.m["k"].x.b'], ['module.m']],
  ])('of a move: %s', (_, proposed, moved, expected) => {
    expect(completeTargets(proposed, { blocks: [], moved })).toEqual(expected)
  })

  it('plans the whole root instead of more than 256 targets', () => {
    const blocks = inRoot(...Array.from({ length: 256 }, (_, index) => `x.r${index}`))
    expect(completeTargets(['x.r0'], { blocks, moved: [] })).toHaveLength(256)
    expect(completeTargets(['y.other'], { blocks, moved: [] })).toEqual([])
    expect(limitTargets(['x.a', 'x.a'])).toEqual(['x.a'])
  })
})
