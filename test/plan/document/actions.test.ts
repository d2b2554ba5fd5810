import { describe, expect, it } from 'vitest'
import { documentOf, entry, planFrom, resourceOf } from './support.ts'

const object = { id: 'i-1', size: 1 }

describe('actions of a plan document', () => {
  it.each([
    ['create', { actions: ['create'], after: object }, {}],
    ['update', { actions: ['update'], before: object, after: { ...object, size: 2 } }, {}],
    ['delete', { actions: ['delete'], before: object }, {}],
    ['forget', { actions: ['forget'], before: object }, {}],
    ['none', { actions: ['no-op'], before: object, after: object }, {}],
    ['import', { actions: ['no-op'], before: object, after: object, importing: { id: 'i-1' } }, {}],
    ['update', { actions: ['update'], before: object, after: { id: 'i-1', size: 2 }, importing: { id: 'i-1' } }, {}],
    ['move', { actions: ['no-op'], before: object, after: object }, { previous_address: 'aws_thing.old' }],
    ['update', { actions: ['update'], before: object, after: object }, { previous_address: 'aws_thing.old' }],
    ['read', { actions: ['read'], after: object }, { mode: 'data' }],
    ['none', { actions: ['no-op'], after: object }, { mode: 'data' }],
  ] as const)('%s', (action, change, rest) => {
    const resource = resourceOf(change, rest)
    expect(resource.action).toBe(action)
    expect(resource.import).toEqual('importing' in change ? { id: 'i-1' } : null)
    expect(resource.moved_from).toBe('previous_address' in rest ? 'aws_thing.old' : null)
    expect(resource.replace).toBeNull()
  })

  it.each([
    ['delete_first', false, ['delete', 'create']],
    ['create_first', false, ['create', 'delete']],
    ['create_first', true, ['create', 'forget']],
  ])('replace, %s', (order, keepsOld, actions) => {
    const resource = resourceOf(
      { actions, before: object, after: { size: 2 }, replace_paths: [['size'], ['block', 0, 'name'], [], 'odd'] },
      { action_reason: 'replace_because_cannot_update' },
    )
    expect(resource).toMatchObject({ action: 'replace', action_reason: 'replace_because_cannot_update' })
    expect(resource.replace).toEqual({
      order,
      keeps_old: keepsOld,
      reasons: [{ path: ['size'] }, { path: ['block', 0, 'name'] }],
    })
  })

  it('counts imports and moves beside what else happens to the object', () => {
    const same = { before: object, after: object }
    const plan = planFrom([
      entry('a.one', { actions: ['create'], after: object }),
      entry('a.two', { actions: ['update'], ...same, importing: { id: 'x' } }),
      entry('a.three', { actions: ['no-op'], ...same, importing: { id: 'y' } }),
      entry('a.four', { actions: ['delete', 'create'], ...same }, { previous_address: 'a.old' }),
      entry('a.five', { actions: ['no-op'], ...same }),
      entry('data.a.six', { actions: ['read'], after: object }),
    ])
    expect(documentOf(plan).summary).toEqual({
      create: 1,
      update: 1,
      replace: 1,
      delete: 0,
      read: 1,
      import: 2,
      move: 1,
      forget: 0,
      none: 1,
    })
  })

  it('tells where a resource stands, its index and its provider', () => {
    const { resources } = documentOf(
      planFrom([
        entry('module.net["a.b"].aws_vpc.main[3]', { actions: ['create'] }, { module_address: 'module.net["a.b"]' }),
        entry('aws_vpc.keyed["k\\"x"]', { actions: ['create'] }, { type: 'aws_vpc', index: 'k"x' }),
        entry('aws_vpc.left', { actions: ['delete'] }, { deposed: '0a1b' }),
      ]),
    )
    expect(resources[0]).toMatchObject({
      address: 'module.net["a.b"].aws_vpc.main[3]',
      module_address: 'module.net["a.b"]',
      index: 3,
      provider: { source: 'registry.terraform.io/hashicorp/aws', name: 'aws' },
    })
    expect(resources[1]).toMatchObject({ module_address: null, index: 'k"x' })
    expect(resources[2]).toMatchObject({ address: 'aws_vpc.left (deposed object 0a1b)', deposed: '0a1b', index: null })
  })

  it('knows what is critical, and why', () => {
    const { resources } = documentOf(
      planFrom(
        ['aws_db_instance.a', 'aws_iam_role.a', 'aws_vpc.a', 'google_dns_managed_zone.a'].map((address) =>
          entry(address, { actions: ['create'] }),
        ),
      ),
    )
    expect(resources.map(({ is_critical, critical_reason }) => [is_critical, critical_reason])).toEqual([
      [true, 'data'],
      [true, 'access'],
      [false, null],
      [true, 'data'],
    ])
  })

  it('says which resources no target names, however the target is written', () => {
    const plan = planFrom(
      [
        'aws_a.one["x.y"]',
        'aws_a.two',
        'module.m["k"].aws_a.x',
        'module.mm.aws_a.x',
        'module.n.module.o[0].aws_a.x',
      ].map((address) => entry(address, { actions: ['create'] })),
    )
    const targeted = (targets: string[]) =>
      documentOf(plan, { targets }).resources.flatMap(({ is_targeted }, index) => (is_targeted ? [index] : []))
    expect(targeted([])).toEqual([0, 1, 2, 3, 4])
    expect(targeted(['aws_a.one'])).toEqual([0])
    expect(targeted(['module.m'])).toEqual([2])
    expect(targeted(['module.m["k"]', 'aws_a.two'])).toEqual([1, 2])
    expect(targeted(['module.n.module.o'])).toEqual([4])
    expect(targeted(['aws_a'])).toEqual([])
  })
})
