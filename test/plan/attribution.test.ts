import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Attribution, attributeDrift, describeDoubts } from '../../src/plan/attribution.ts'
import { driftOperations } from '../../src/plan/drift.ts'
import { planOf, planWith } from './fixtures.ts'

/** Plans of terraform 1.11 over one state: of the code before a session, and of the session's code. */
const recorded: Record<string, Record<'base' | 'session', object>> = JSON.parse(
  readFileSync(new URL('fixtures/two-plans.json', import.meta.url), 'utf8'),
)

const addresses = (found: Attribution) =>
  Object.fromEntries(
    Object.entries(found).flatMap(([owner, list]) =>
      list.length > 0 ? [[owner, list.map(({ address }: { address: string }) => address)]] : [],
    ),
  )

function attributeRecorded(name: string, { isKnown = true } = {}) {
  const { base = {}, session = {} } = recorded[name] ?? {}
  const plan = planWith(session)
  return attributeDrift(plan, driftOperations(plan), isKnown ? planWith(base) : null)
}

describe('a difference in plans of a real engine', () => {
  it.each([
    [
      'count through a call of ../../modules',
      { own: ['module.nodes.terraform_data.node[2]', 'module.nodes.terraform_data.node[3]'] },
    ],
    [
      'root variable that reaches count through an input',
      { own: ['module.nodes.terraform_data.node[1]', 'module.nodes.terraform_data.node[2]'] },
    ],
    ['blanks in a heredoc', { own: ['terraform_data.pipeline'] }],
    ['input newly added to a call', { own: ['module.m.terraform_data.x'] }],
    [
      'fewer instances, of which others removed one from the code of the base',
      { others: ['terraform_data.each["c"]'], own: ['terraform_data.each["b"]'] },
    ],
    ['only others', { others: ['terraform_data.one'], own: ['terraform_data.new'] }],
    ['both changed one attribute, not equally', { both: ['terraform_data.one'] }],
  ])('%s', (name, expected) => {
    expect(addresses(attributeRecorded(name))).toEqual(expected)
  })

  it.each([
    'others changed one attribute and the session another',
    'renamed with moved and changed, while others changed it too',
  ])('is divided by attributes: %s', (name) => {
    const { others, own, both, unknown } = attributeRecorded(name)
    expect(others).toMatchObject([{ changes: { changed: { 'input.color': { old_value: 'red', new_value: 'blue' } } } }])
    expect(own).toMatchObject([{ changes: { changed: { 'input.size': { old_value: 'l', new_value: 's' } } } }])
    expect(others[0]?.address).toBe(own[0]?.address)
    expect([both, unknown]).toEqual([[], []])
  })

  it('is unknown without a plan of the base, but for what only the session creates', () => {
    const found = attributeRecorded('only others', { isKnown: false })
    expect(addresses(found)).toEqual({ unknown: ['terraform_data.one'], own: ['terraform_data.new'] })
    expect(describeDoubts(found, 'Error: Unsupported argument')).toEqual([
      'Whose the differences at `terraform_data.one` are is not known, since the code from before this session could ' +
        'not be planned: Error: Unsupported argument',
    ])
  })

  it('that both made is said as both', () => {
    const [text] = describeDoubts(attributeRecorded('both changed one attribute, not equally'), '')
    expect(text).toBe(
      'terraform_data.one was changed by others and by this session, not equally: the plan keeps what the session ' +
        'wrote (input.color: "green" in the code, "blue" in the infrastructure)',
    )
  })
})

const update = (address: string, before: object, after: object, more = {}) => ({
  address,
  actions: ['update'],
  before,
  after,
  ...more,
})
const drifted = (address: string, actions: string[], before: object | null, after: object | null) => ({
  address,
  change: { actions, before, after },
})

describe('a difference that the refresh found', () => {
  it('of a deleted object is that of others, however the base reads', () => {
    const created = [{ address: 'a.b', actions: ['create'], after: {} }]
    const plan = planOf(created, { resource_drift: [drifted('a.b', ['delete'], {}, null)] })
    expect(addresses(attributeDrift(plan, driftOperations(plan), null))).toEqual({ others: ['a.b'] })
    expect(addresses(attributeDrift(planOf(created), driftOperations(plan), planOf(created)))).toEqual({ own: ['a.b'] })
  })

  it('is read whatever stands in resource_drift', () => {
    const created = [{ address: 'a.b', actions: ['create'], after: {} }]
    for (const odd of [null, 'x', [null, 1, {}, { address: 'a.b' }, drifted('a.b', [], null, null)]]) {
      const plan = planOf(created, { resource_drift: odd })
      expect(addresses(attributeDrift(plan, driftOperations(plan), null))).toEqual({ own: ['a.b'] })
    }
  })

  it('is known without a plan of the base where the code says what the state said', () => {
    const resource_drift = [drifted('a.b', ['update'], { size: 1, color: 'red' }, { size: 2, color: 'blue' })]
    const plan = planOf(
      [update('a.b', { size: 2, color: 'blue', shape: 'x' }, { size: 1, color: 'green', shape: 'y' })],
      { resource_drift },
    )
    const { others, both, unknown, own } = attributeDrift(plan, driftOperations(plan), null)
    expect(others).toMatchObject([{ changes: { changed: { size: { new_value: 2 } } } }])
    expect(both).toMatchObject([{ changes: { changed: { color: { old_value: 'green' } } } }])
    expect(unknown).toMatchObject([{ changes: { changed: { shape: {} } } }])
    expect(own).toEqual([])
  })
})

it('compares sensitive values, which are masked in what is told', () => {
  const marked = { before_sensitive: { secret: true }, after_sensitive: { secret: true } }
  const plan = planOf([update('a.b', { secret: 'infra' }, { secret: 'session' }, marked)])
  const same = planOf([update('a.b', { secret: 'infra' }, { secret: 'session' }, marked)])
  const other = planOf([update('a.b', { secret: 'infra' }, { secret: 'base' }, marked)])
  const operations = driftOperations(plan)
  expect(addresses(attributeDrift(plan, operations, same))).toEqual({ others: ['a.b'] })
  expect(addresses(attributeDrift(plan, operations, other))).toEqual({ both: ['a.b'] })
  expect(JSON.stringify(attributeDrift(plan, operations, same))).not.toContain('infra')
})

it.each([
  ['an item of a list that others moved', { list: [1, 2] }, { list: [2] }, { list: [2, 3] }, 'both'],
  ['a part of what others replaced as a whole', { tags: { a: 'x' } }, { tags: null }, { tags: { a: 'y' } }, 'both'],
  ['an attribute beside that of others', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 2 }, 'own'],
])('%s', (_, infrastructure, before, after, owner) => {
  const plan = planOf([update('a.b', infrastructure, after)])
  const found = attributeDrift(plan, driftOperations(plan), planOf([update('a.b', infrastructure, before)]))
  expect(addresses(found)).toEqual({ [owner]: ['a.b'] })
})

it('of an object that the session declares and the base would delete is the session’s', () => {
  const plan = planOf([update('a.b', { size: 1 }, { size: 2 })])
  const base = planOf([{ address: 'a.b', actions: ['delete'], before: { size: 1 } }])
  expect(addresses(attributeDrift(plan, driftOperations(plan), base))).toEqual({ own: ['a.b'] })
})
