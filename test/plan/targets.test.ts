import { describe, expect, it } from 'vitest'
import { createPlanDocument } from '../../src/plan/document/create-document.ts'
import { PlanDocumentSchema } from '../../src/plan/document/plan-document.ts'
import {
  type BeyondTargets,
  changedTargets,
  changesBeyond,
  changesOutsideTargets,
  completeTargets,
  describeBeyondTargets,
  findUnknownTargets,
  findUnplannedBlocks,
  hasMatchingTarget,
  isWider,
  limitTargets,
  readTargetingFault,
  reservedTargets,
} from '../../src/plan/targets.ts'
import { planOf, planWith } from './fixtures.ts'

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
    expect(completeTargets(proposed, { blocks, moved: [], unread: [] })).toEqual(expected)
  })

  it.each([
    ['adds the other side', ['x.new'], ['x.old', 'x.new'], ['x.new', 'x.old']],
    ['adds both sides', ['x.c'], ['x.old', 'module.m.x.new'], ['x.c', 'x.old', 'module.m.x.new']],
    ['adds the block when an instance alone was named', ['x.a["k"]'], ['x.a', 'x.a["k"]'], ['x.a["k"]', 'x.a']],
    ['adds nothing that a module includes', ['module.m'], ['module.m.x.a', 'module.m["k"].x.b'], ['module.m']],
  ])('of a move: %s', (_, proposed, moved, expected) => {
    expect(completeTargets(proposed, { blocks: [], moved, unread: [] })).toEqual(expected)
  })

  it('plans the whole root instead of more than 256 targets', () => {
    const blocks = inRoot(...Array.from({ length: 256 }, (_, index) => `x.r${index}`))
    expect(completeTargets(['x.r0'], { blocks, moved: [], unread: [] })).toHaveLength(256)
    expect(completeTargets(['y.other'], { blocks, moved: [], unread: [] })).toEqual([])
    expect(limitTargets(['x.a', 'x.a'])).toEqual(['x.a'])
  })

  it('plans the whole root when code was changed that could not be read', () => {
    expect(completeTargets(['x.a'], { blocks: [], moved: [], unread: ['main.tf'] })).toEqual([])
  })
})

describe('changedTargets', () => {
  it.each([
    ['names the changed blocks, each once', inRoot('x.a', 'x.b', 'x.a'), [], ['x.a', 'x.b']],
    ['adds both sides of moves', inRoot('x.new'), ['x.old', 'x.new'], ['x.new', 'x.old']],
    ['names a move alone', [], ['x.old', 'x.new'], ['x.old', 'x.new']],
    ['names nothing where nothing has an address', [], [], []],
    ['names nothing where there is too much', inRoot(...Array.from({ length: 257 }, (_, at) => `x.r${at}`)), [], []],
  ])('%s', (_, blocks, moved, expected) => {
    expect(changedTargets({ blocks, moved, users: [], unread: [] })).toEqual(expected)
    expect(changedTargets({ blocks, moved, users: ['a.user'], unread: ['main.tf'] })).toEqual([])
  })

  it('adds what uses a changed value', () => {
    expect(changedTargets({ blocks: inRoot('x.a'), moved: [], users: ['x.b'], unread: [] })).toEqual(['x.a', 'x.b'])
    expect(changedTargets({ blocks: [], moved: [], users: ['x.b'], unread: [] })).toEqual(['x.b'])
  })
})

it.each([
  ['what it creates', [{ address: 'x.a', actions: ['create'] }], false],
  ['what it creates elsewhere', [{ address: 'x.b', actions: ['create'] }], true],
  ['what it destroys elsewhere', [{ address: 'x.b', actions: ['delete'] }], true],
  ['what it forgets elsewhere', [{ address: 'x.b', actions: ['forget'] }], true],
  ['a move from elsewhere', [{ address: 'x.b', previous_address: 'x.c', actions: ['no-op'] }], true],
  ['a move from a target', [{ address: 'x.b', previous_address: 'x.a', actions: ['no-op'] }], false],
  [
    'what stays and what is read',
    [
      { address: 'x.b', actions: ['no-op'] },
      { address: 'data.x.c', mode: 'data', actions: ['read'] },
    ],
    false,
  ],
])('a plan is wider than its targets by %s', (_, changes, expected) => {
  expect(isWider(planOf(changes), ['x.a'])).toBe(expected)
})

const DETAIL = `Resource instances in your current state have moved to new addresses in the
latest configuration. Terraform must include those resource instances while
planning in order to ensure a correct result, but your -target=... options do
not fully cover all of those resource instances.

To create a valid plan, either remove your -target=... options altogether or
add the following additional target options:
  -target="terraform_data.a"
  -target="module.m[\\"k\\"].terraform_data.b"

Note that adding these options may include further additional resource
instances in your plan, in order to respect object dependencies.`
const MOVED = `\nError: Moved resource instances excluded by targeting\n\n${DETAIL}\n`
const framed = (text: string) => `╷\n${text.trim().replaceAll(/^/gm, '│ ')}\n╵\n`
const WARNING = '\nWarning: Resource targeting is in effect\n\nYou are creating a plan with the -target option.\n'

describe('readTargetingFault', () => {
  it.each([
    ['plain', MOVED],
    ['framed', framed(MOVED)],
    ['after a warning', WARNING + MOVED],
    ['of OpenTofu', MOVED.replace('Terraform must', 'OpenTofu must')],
    ['with carriage returns', MOVED.replaceAll('\n', '\r\n')],
  ])('reads the addresses that are missing: %s', (_, text) => {
    expect(readTargetingFault(text)).toEqual({
      missing: ['terraform_data.a', 'module.m["k"].terraform_data.b'],
      invalid: [],
    })
  })

  it('reads targets that are no addresses', () => {
    const invalid = (address: string) =>
      `\nError: Invalid target ${JSON.stringify(address)}\n\nThe keyword is reserved.\n`
    expect(readTargetingFault(invalid('var.x') + invalid('module.m["k"].x'))).toEqual({
      missing: [],
      invalid: ['var.x', 'module.m["k"].x'],
    })
  })

  it.each([
    ['another error', '\nError: Invalid value\n\n  on main.tf line 1:\n\nNo.\n'],
    ['another error beside it', `${MOVED}\nError: Cycle: a, b\n`],
    ['a warning alone', WARNING],
    ['nothing', ''],
  ])('is null for %s', (_, text) => {
    expect(readTargetingFault(text)).toBeNull()
  })
})

describe('reservedTargets', () => {
  it('names what no engine could plan, also in modules, and nothing else', () => {
    const reserved = ['var.x', 'local.y', 'module.a.module.b["k.v"].var.z', 'each.value', 'path.module']
    const addresses = ['local_file.x', 'variable.x', 'module.var', 'data.local_file.y', 'module.local.aws_vpc.main']
    expect(reservedTargets([...reserved, ...addresses])).toEqual(reserved)
  })
})

const change = { actions: ['no-op'], before: null, after: null }
const plan = planWith({
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
})

describe('namesAnything', () => {
  it.each(['x.code', 'x.code["k"]', 'x.moved', 'x.before', 'x.state', 'module.m', 'module.new'])('%s', (target) => {
    expect(hasMatchingTarget(plan, [target])).toBe(true)
    expect(hasMatchingTarget(plan, ['x.imagined', target])).toBe(true)
  })
  it.each(['x.cod', 'x.code["other"]', 'module.x', 'module.n', 'imagined', ''])('not %j', (target) => {
    expect(hasMatchingTarget(plan, [target])).toBe(false)
  })
  it('the whole root always does, also an empty one', () => {
    expect(hasMatchingTarget(planWith({}), [])).toBe(true)
    expect(hasMatchingTarget(planWith({ configuration: {}, prior_state: 3, resource_drift: {} }), ['x.a'])).toBe(false)
  })
  it('cannot be told from a document without the code', () => {
    expect(hasMatchingTarget(planOf([]), ['x.a'])).toBe(true)
  })
})

const declaring = planWith({
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
})

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
    expect(findUnknownTargets(declaring, [target])).toEqual([])
  })

  it.each(['x.nowhere', 'x.many["b"]', 'module.e', 'module.c.x.out', 'x', 'var.v'])('does not know %s', (target) => {
    expect(findUnknownTargets(declaring, ['x.now', target])).toEqual([target])
  })

  it('says nothing when the document does not say what the code declares', () => {
    for (const configuration of [undefined, {}, { root_module: 3 }])
      expect(findUnknownTargets(planWith({ configuration }), ['x.nowhere'])).toEqual([])
  })
})

describe('findUnplannedBlocks', () => {
  it('names the blocks of the code that neither the plan nor the state has, in modules as well', () => {
    const resource = (address: string, mode = 'managed') => ({ address, mode })
    const partial = planWith({
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
    })
    expect(findUnplannedBlocks(partial)).toEqual(['x.beside', 'module.m.x.in'])
  })

  it('is silent where the plan does not say what the code declares', () => {
    expect(findUnplannedBlocks(planOf([]))).toEqual([])
  })
})

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
      'forget terraform_data.forgotten',
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
      'terraform_data.forgotten',
    ])
  })

  it('names what is only moved, imported or forgotten', () => {
    const inState = planOf([
      { address: 'terraform_data.new', previous_address: 'terraform_data.old', actions: ['no-op'] },
      { address: 'terraform_data.both', previous_address: 'terraform_data.was', actions: ['update'] },
      { address: 'terraform_data.taken', actions: ['no-op'], importing: { id: 'x' } },
      { address: 'terraform_data.left', actions: ['forget'] },
      { address: 'terraform_data.same', actions: ['no-op'] },
    ])
    const changes = changesBeyond(planOf([]), inState)
    expect(describeBeyondTargets({ made: true, changes }).split('\n').slice(1)).toEqual([
      '- move terraform_data.new, which was terraform_data.old',
      '- update terraform_data.both, which was terraform_data.was',
      '- import terraform_data.taken',
      '- forget terraform_data.left',
    ])
    expect(changesBeyond(inState, inState)).toEqual([])
    const document = createPlanDocument({
      ...{ plan: planOf([]), targets: ['a.b'], masker: { text: (text: string) => text } },
      beyond: { made: true, changes },
    })
    expect(PlanDocumentSchema.parse(document).outside_targets).toMatchObject({
      changes: [{ action: 'move', moved_from: 'terraform_data.old' }, {}, { action: 'import' }, { action: 'forget' }],
    })
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
})
