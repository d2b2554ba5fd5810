import { describe, expect, it } from 'vitest'
import { ExactNumber } from '../../../src/base/json.ts'
import { MASK } from '../../../src/base/masking.ts'
import { PlanDocumentSchema } from '../../../src/plan/document/plan-document.ts'
import { documentOf, entry, lines, planFrom, resourceOf } from './support.ts'

const update = (before: object, after: object, marks: object = {}) =>
  resourceOf({ actions: ['update'], before, after, ...marks })
const changes = (before: object, after: object, marks: object = {}) => lines(update(before, after, marks).attributes)

describe('attributes of a plan document', () => {
  it('lists what changes by its path, counts the rest, and keeps what identifies the object', () => {
    const before = { id: 'i-1', size: 1, tags: { 'a b': 'x', gone: 'y' }, zone: 'a', empty: null }
    const resource = update(before, { id: 'i-1', size: 2, tags: { 'a b': 'z' }, zone: 'a', empty: null, fresh: [] })
    expect(lines(resource.attributes)).toEqual([
      'same id: "i-1"',
      'changed size: 1 -> 2',
      'changed tags.a b: "x" -> "z"',
      'removed tags.gone: "y" -> null',
      'added fresh: null -> []',
    ])
    expect(resource.attributes_unchanged).toBe(1)
  })

  it('shows every digit of a number', () => {
    const [before, after] = [9007199254740992, new ExactNumber('9007199254740993')]
    expect(changes({ owner: before }, { owner: after })).toEqual([
      'changed owner: 9007199254740992 -> 9007199254740993',
    ])
  })

  it('shows an item that comes into a list or goes out of it as one difference', () => {
    expect(changes({ cidrs: ['a', 'b', 'd', 'f'] }, { cidrs: ['b', 'c', 'd', 'e', 'f'] })).toEqual([
      'changed cidrs.1: "a" -> "c"',
      'added cidrs.3: null -> "e"',
    ])
    expect(changes({ list: ['a', 'b', 'c'] }, { list: ['b', 'a', 'c'] })).toEqual([
      'changed list.0: "a" -> "b"',
      'changed list.1: "b" -> "a"',
    ])
    // Where the order itself changes, only both ends are the same.
    expect(changes({ list: ['x', 'a', 'b', 'y'] }, { list: ['x', 'b', 'a', 'n', 'y'] })).toEqual([
      'changed list.1: "a" -> "b"',
      'changed list.2: "b" -> "a"',
      'added list.3: null -> "n"',
    ])
    const unknown = { after_unknown: { list: [{ ip: true }] } }
    expect(changes({ list: [{ n: 1 }] }, { list: [{ n: 1 }] }, unknown)).toEqual([
      'added list.0.ip: null -> null (unknown)',
    ])
    const rule = (port: number, source = '10.0.0.0/8') => ({ port, source })
    expect(changes({ rule: [rule(22), rule(80), rule(443)] }, { rule: [rule(22), rule(443, '0.0.0.0/0')] })).toEqual([
      'changed rule.1.port: 80 -> 443',
      'changed rule.1.source: "10.0.0.0/8" -> "0.0.0.0/0"',
      'removed rule.2.port: 443 -> null',
      'removed rule.2.source: "10.0.0.0/8" -> null',
    ])
  })

  it('knows what only the apply knows, also deep inside of lists', () => {
    const nested = [{ ip: true }]
    const marks = { after_unknown: { id: true, rules: [{ arn: true, nested }], tags: {}, all: true, new: nested } }
    expect(changes({ all: ['x'] }, { rules: [{ name: 'n', nested: [{ port: 1 }] }] }, marks)).toEqual([
      'changed all: ["x"] -> null (unknown)',
      'added rules.0.name: null -> "n"',
      'added rules.0.nested.0.port: null -> 1',
      'added rules.0.nested.0.ip: null -> null (unknown)',
      'added rules.0.arn: null -> null (unknown)',
      'added id: null -> null (unknown)',
      'added new.0.ip: null -> null (unknown)',
    ])
  })

  it('hides sensitive values in their full length, whichever side marks them, and inside of sets', () => {
    const users = (password: string) => [
      { name: 'ada', password },
      { name: 'bob', password: 'bob-has-another-secret' },
    ]
    const marks = {
      before_sensitive: { key: true, users: [{ password: true }, { password: true }] },
      after_sensitive: { list: true, users: [{ password: true }, { password: true }] },
    }
    const shown = changes(
      { key: 'key-before-is-secret', list: ['one-secret'], users: users('ada-before') },
      { key: 'key-after-is-secret', list: ['one-secret', 'two-secret', 'three-secret'], users: users('ada-after') },
      marks,
    )
    expect(shown).toEqual([
      `changed key: "${MASK}" -> "${MASK}" (sensitive)`,
      `changed list: "${MASK}" -> "${MASK}" (sensitive)`,
      `changed users.0.password: "${MASK}" -> "${MASK}" (sensitive)`,
    ])
  })

  it('tells that a value became sensitive', () => {
    expect(changes({ pin: 'abcd-efgh' }, { pin: 'abcd-efgh' }, { after_sensitive: { pin: true } })).toEqual([
      `changed pin: "${MASK}" -> "${MASK}" (sensitive)`,
    ])
  })

  it('hides the sensitive parts of a value that is shown as a whole', () => {
    const all = { key: 'a-secret-key', none: null, plain: ['x', 'another-secret'] }
    const before_sensitive = { all: { key: true, none: true, plain: [false, true] } }
    const [attribute] = update({ all }, {}, { before_sensitive, after_unknown: { all: true } }).attributes
    expect(attribute).toEqual({
      path: ['all'],
      change: 'changed',
      before: { key: MASK, none: null, plain: ['x', MASK] },
      after: null,
      unknown: true,
      sensitive: true,
    })
    const marks = { before_sensitive: { all: { none: true } }, after_unknown: { all: true } }
    expect(update({ all: { none: null } }, {}, marks).attributes[0]).not.toHaveProperty('sensitive')
  })

  it('cuts what is nested more than 50 deep, and hides it where a mark reaches as deep', () => {
    const nest = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [nest(depth - 1, inner)])
    const value = { number: 7, none: null, list: [1, 'x', nest(60, 'deep')], map: { key: nest(47, 'at-50') } }
    const output = (after: unknown, marks: object = {}) =>
      documentOf(planFrom([], { output_changes: { o: { actions: ['create'], before: null, after, ...marks } } }))
        .outputs[0]
    expect(output(value)?.after).toEqual({
      number: 7,
      none: null,
      list: [1, 'x', nest(48, null)],
      map: { key: nest(47, 'at-50') },
    })
    expect(output(nest(49, 'a-secret'), { after_sensitive: nest(60, true) })?.after).toEqual(nest(49, 'a-secret'))
    expect(output(nest(50, 'a-secret'), { after_sensitive: nest(60, true) })?.after).toEqual(nest(50, MASK))
    const listed = update({ a: [{ b: 1 }, 2] }, { a: [{ b: 1 }, 3], deep: nest(60, 'x') })
    expect(lines(listed.attributes).slice(0, 1)).toEqual(['changed a.1: 2 -> 3'])
    expect(listed.attributes_left_out).toBe(1)
    expect(listed.attributes_unchanged).toBe(1)
  })

  it('masks every text with what the run knows to be secret: values, keys, addresses, numbers', () => {
    const secrets = ['planted-in-a-text', '98765432']
    const plan = planFrom(
      [
        entry('aws_thing.a["planted-in-a-text"]', {
          actions: ['update'],
          before: { note: 'has planted-in-a-text inside', 'planted-in-a-text': 1, pin: 98765432 },
          after: { note: 'x', pin: 98765432, other: ['planted-in-a-text'] },
        }),
      ],
      { output_changes: { o: { actions: ['create'], before: null, after: { a: 'planted-in-a-text' } } } },
    )
    const hide = (text: string) => secrets.reduce((all, secret) => all.replaceAll(secret, MASK), text)
    const text = JSON.stringify(
      documentOf(plan, { masker: { text: hide }, targets: ['aws_thing.a["planted-in-a-text"]'] }),
    )
    for (const secret of secrets) expect(text).not.toContain(secret)
    expect(text).toContain(`has ${MASK} inside`)
  })

  it('cuts huge values and says so', () => {
    const resource = update({ data: 'a'.repeat(100_000) }, { data: 'b'.repeat(100_000), many: null })
    expect(resource.attributes[0]).toMatchObject({ path: ['data'], cut: true, before: `${'a'.repeat(4_000)}…` })
    const long = resourceOf({
      actions: ['create'],
      after: { items: Array.from({ length: 1_500 }, (_, i) => `item ${i}`) },
    })
    expect([long.attributes.length, long.attributes_left_out]).toEqual([1_000, 500])
    const whole = update({ all: Array(500).fill('x') }, {}, { after_unknown: { all: true } })
    expect(whole.attributes[0]).toMatchObject({ cut: true, unknown: true, before: Array(200).fill('x') })
  })

  it('takes the attributes of the last resources away when the document would be too large', async () => {
    const { createPlanDocument, writePlanDocument } = await import('../../../src/plan/document/create-document.ts')
    const after = { text: 'x'.repeat(500) }
    const plan = planFrom([1, 2, 3, 4].map((n) => entry(`a.b${n}`, { actions: ['create'], after })))
    const facts = { plan, targets: [], masker: { text: (text: string) => text } }
    const document = createPlanDocument(facts, { max_bytes: 1_300 })
    expect(
      document.resources.map(({ attributes, attributes_left_out }) => [attributes.length, attributes_left_out]),
    ).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
      [0, 1],
    ])
    expect(document.resources_without_attributes).toBe(2)
    expect(JSON.parse(await writePlanDocument(facts, undefined, { max_bytes: 1_300 }))).toEqual(document)
  })

  it('lists changed outputs and what changed without the engine', () => {
    const plan = planFrom([], {
      output_changes: {
        same: { actions: ['no-op'], before: 1, after: 1 },
        url: { actions: ['create'], before: null, after_unknown: true },
        key: { actions: ['update'], before: 'b', after: 'a', before_sensitive: true, after_sensitive: true },
        odd: 7,
      },
      resource_drift: [
        {
          address: 'a.b',
          change: { actions: ['update'], before: { x: { y: 1 }, z: 1 }, after: { x: { y: 2 }, z: 1 } },
        },
        { address: 'a.c', change: { actions: ['delete'] } },
        'odd',
      ],
    })
    const { outputs, drift } = documentOf(plan)
    expect(outputs).toEqual([
      { name: 'url', action: 'create', before: null, after: null, unknown: true },
      { name: 'key', action: 'update', before: MASK, after: MASK, sensitive: true },
    ])
    expect(drift).toEqual([
      { address: 'a.b', action: 'update', paths: [['x', 'y']], paths_left_out: 0 },
      { address: 'a.c', action: 'delete', paths: [], paths_left_out: 0 },
    ])
  })

  it('attaches findings and statements to their addresses, and keeps the others', () => {
    const plan = planFrom([entry('a.b', { actions: ['create'] })])
    const finding = { rule_id: 'r', severity: 'error', message: 'm', suggested_fix: 'fix' } as const
    const statement = { id: 's1', text: 't', verdict: 'unmet', finding: 'f' } as const
    const document = documentOf(plan, {
      findings: [
        { ...finding, resource: 'a.b' },
        { ...finding, resource: null, suggested_fix: null },
        { ...finding, resource: 'a.gone' },
      ],
      statements: [{ ...statement, addresses: ['a.b', 'a.other'] }],
      targets: ['a.b'],
      beyond: { made: true, changes: [{ address: 'a.c', type: 'a', action: 'replace' }] },
    })
    expect(document.resources[0]).toMatchObject({ findings: [finding], statements: ['s1'] })
    expect(document.findings.map((one) => [one.resource, one.suggested_fix])).toEqual([
      [null, null],
      ['a.gone', 'fix'],
    ])
    expect(document.statements).toEqual([statement])
    expect(document.checked).toEqual({ rules: true, request: true, outside_targets: true })
    expect(document.outside_targets).toEqual({
      made: true,
      changes: [{ address: 'a.c', type: 'a', action: 'replace' }],
      changes_left_out: 0,
    })
    const failed = documentOf(plan, {
      beyond: { made: false, reason: 'it failed' },
      engine: { name: 'OpenTofu', version: '1.9.0' },
    })
    expect(failed.outside_targets).toEqual({ made: false, reason: 'it failed' })
    expect(failed.engine).toEqual({ name: 'OpenTofu', version: '1.9.0' })
    expect(documentOf(planFrom([], { terraform_version: '1.11.0' })).engine).toEqual({ name: null, version: '1.11.0' })
    expect(documentOf(planFrom([], { terraform_version: 1 })).engine).toEqual({ name: null, version: null })
    expect(documentOf(plan, { targets: ['a.b'] }).checked).toEqual({
      rules: false,
      request: false,
      outside_targets: false,
    })
  })
})

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
    expect(PlanDocumentSchema.shape.resources.element.parse(resource)).toEqual(resource)
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
        entry('aws_vpc.read["a\\"b"]', { actions: ['create'] }),
        entry('aws_vpc.odd["a\\q"]', { actions: ['create'] }),
        entry('aws_vpc.stated', { actions: ['create'] }, { index: 'key', provider_name: 'own' }),
        entry('aws_vpc.bare', { actions: ['create'] }, { index: 0, provider_name: undefined }),
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
    expect(resources.slice(3).map(({ index, provider }) => [index, provider?.name])).toEqual([
      ['a"b', 'aws'],
      ['a\\q', 'aws'],
      ['key', 'own'],
      [0, undefined],
    ])
  })

  it('knows what is critical, and why', () => {
    const { resources } = documentOf(
      planFrom(
        ['aws_db_instance.a', 'aws_iam_role.a', 'aws_vpc.a', 'google_dns_managed_zone.a', 'acme_data_set.a'].map(
          (address) => entry(address, { actions: ['create'] }),
        ),
      ),
    )
    expect(resources.map((one) => [one.is_critical, one.critical_reason, one.criticality_known])).toEqual([
      [true, 'data', true],
      [true, 'access', true],
      [false, null, true],
      [true, 'data', true],
      [false, null, false],
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
