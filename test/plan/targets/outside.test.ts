import { expect, it } from 'vitest'
import { changesOutsideTargets } from '../../../src/plan/targets.ts'
import { planOf } from '../fixtures.ts'

const outside = (targets: string[], ...addresses: string[]) =>
  changesOutsideTargets(planOf(addresses.map((address) => ({ address, actions: ['create'] }))), targets).map(
    ({ address }) => address,
  )

it.each([
  ['no targets mean the whole root', [], ['a.b'], []],
  ['the same address', ['a.b'], ['a.b'], []],
  ['another address', ['a.b'], ['a.c', 'a.b'], ['a.c']],
  ['a longer name', ['a.b'], ['a.bc'], ['a.bc']],
  ['instances of a resource', ['a.b'], ['a.b[0]', 'a.b["x"]'], []],
  ['one instance only', ['a.b[0]'], ['a.b[0]', 'a.b[1]'], ['a.b[1]']],
  [
    'a module with everything inside',
    ['module.net'],
    ['module.net.a.b', 'module.net.module.in.a.b[0]', 'module.net[0].a.b'],
    [],
  ],
  [
    'a module instance',
    ['module.net["k.1"]'],
    ['module.net["k.1"].a.b', 'module.net["k.2"].a.b'],
    ['module.net["k.2"].a.b'],
  ],
  ['a module with a longer name', ['module.net'], ['module.network.a.b'], ['module.network.a.b']],
  ['a resource is no prefix of a module', ['a.module'], ['a.module.x'], ['a.module.x']],
])('%s', (_, targets, addresses, expected) => {
  expect(outside(targets, ...addresses)).toEqual(expected)
})

it('knows a moved resource by its former address, and skips what does not change', () => {
  const plan = planOf([
    { address: 'a.new', previous_address: 'a.old', actions: ['update'] },
    { address: 'a.same', actions: ['no-op'] },
  ])
  expect(changesOutsideTargets(plan, ['a.old'])).toEqual([])
})
