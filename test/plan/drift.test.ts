import { describe, expect, it } from 'vitest'
import { ExactNumber } from '../../src/base/json.ts'
import { MASK } from '../../src/base/masking.ts'
import { driftOperations, findDifferences } from '../../src/plan/drift.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { changesJson, planOf } from './fixtures.ts'

describe('driftOperations of a real plan', () => {
  const operations = driftOperations(parsePlan(changesJson))

  it('turns every change round', () => {
    expect(operations.map(({ address, action }) => [address, action])).toEqual([
      ['terraform_data.added', 'delete resource'],
      ['terraform_data.edit', 'update resource'],
      ['terraform_data.gone', 'create resource'],
      ['terraform_data.replace', 'update resource'],
    ])
  })

  it('goes from the code to the infrastructure', () => {
    expect(operations[1]).toEqual({
      address: 'terraform_data.edit',
      action: 'update resource',
      changes: {
        changed: {
          'input.secret': { old_value: MASK, new_value: MASK },
          'input.size': { old_value: 2, new_value: 1 },
          'input.tags[1]': { old_value: 'c', new_value: 'b' },
        },
        removed: { 'input.tags[2]': 'd' },
      },
    })
    expect(operations[3]).toMatchObject({
      changes: { changed: { 'triggers_replace[0]': { old_value: 'v2', new_value: 'v1' } } },
    })
  })

  it('keeps words such as old, new, added and removed in values', () => {
    expect(operations[2]).toMatchObject({ changes: { input: 'old new added removed' } })
  })
})

describe('driftOperations', () => {
  it('tells numbers apart that a double cannot', () => {
    const [before, after] = [new ExactNumber('9007199254740993'), 9007199254740992]
    const plan = planOf([{ actions: ['update'], before: { owner: before }, after: { owner: after } }])
    expect(driftOperations(plan)).toMatchObject([
      { changes: { changed: { owner: { old_value: after, new_value: before } } } },
    ])
  })

  it.each([
    ['no-op', { actions: ['no-op'] }],
    ['read', { actions: ['read'], mode: 'data' }],
    ['forget', { actions: ['forget'], before: { a: 1 } }],
    ['an update without difference', { actions: ['update'], before: { a: 1 }, after: { a: 1 } }],
    [
      'a replacement whose values are all unknown',
      { actions: ['delete', 'create'], before: { id: 'x' }, after: {}, after_unknown: { id: true } },
    ],
    ['a leftover object', { actions: ['delete'], before: { a: 1 }, deposed: 'ab12' }],
    ['null against absent', { actions: ['update'], before: { a: null }, after: {} }],
  ])('is empty for %s', (_, change) => {
    expect(driftOperations(planOf([change]))).toEqual([])
  })

  it.each([[['delete', 'create']], [['create', 'delete']], [['update']]])('treats %j as an update', (actions) => {
    expect(driftOperations(planOf([{ address: 'a.b', actions, before: { size: 1 }, after: { size: 2 } }]))).toEqual([
      { address: 'a.b', action: 'update resource', changes: { changed: { size: { old_value: 2, new_value: 1 } } } },
    ])
  })

  it('masks the former object of a deletion, nested and whole', () => {
    const [operation] = driftOperations(
      planOf([
        {
          actions: ['delete'],
          before: { user: 'bob', login: { password: 'pw' }, keys: ['k1', 'k2'], all: { x: 1 } },
          before_sensitive: { login: { password: true }, keys: [false, true], all: true },
        },
      ]),
    )
    expect(operation).toMatchObject({
      changes: { user: 'bob', login: { password: MASK }, keys: ['k1', MASK], all: MASK },
    })
  })

  it('masks an object that is sensitive as a whole', () => {
    const [operation] = driftOperations(planOf([{ actions: ['delete'], before: { a: 'x' }, before_sensitive: true }]))
    expect(operation).toMatchObject({ changes: MASK })
  })

  it('masks a sensitive value that is repeated where nothing is flagged', () => {
    const operations = driftOperations(
      planOf([
        {
          actions: ['update'],
          before: { pw: 'topsecret-1', url: 'db://u:topsecret-1@h' },
          after: { pw: 'topsecret-2', url: 'db://u:topsecret-2@h' },
          before_sensitive: { pw: true },
          after_sensitive: { pw: true },
        },
      ]),
    )
    expect(JSON.stringify(operations)).not.toContain('topsecret')
    expect(operations).toMatchObject([{ changes: { changed: { url: { new_value: `db://u:${MASK}@h` } } } }])
  })
})

describe('differences', () => {
  it.each([
    ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, {}],
    ['order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, {}],
    ['a type', { a: 1 }, { a: '1' }, { changed: { a: { old_value: 1, new_value: '1' } } }],
    ['object against list', { a: {} }, { a: [] }, { changed: { a: { old_value: {}, new_value: [] } } }],
    ['false against null', { a: false }, { a: null }, { removed: { a: false } }],
    ['zero and empty are values', { a: 0, b: '' }, {}, { removed: { a: 0, b: '' } }],
    ['an added branch', {}, { a: { b: [1] } }, { added: { a: { b: [1] } } }],
    ['an item in the middle', { l: ['a', 'c'] }, { l: ['a', 'b', 'c'] }, { added: { 'l[1]': 'b' } }],
    ['a first item', { l: ['a', 'b', 'c'] }, { l: ['b', 'c'] }, { removed: { 'l[0]': 'a' } }],
    ['repeated items', { l: ['a', 'a'] }, { l: ['a', 'a', 'a'] }, { added: { 'l[2]': 'a' } }],
    [
      'inside of an item',
      { l: [{ x: 1, y: 2 }] },
      { l: [{ x: 1, y: 3 }] },
      { changed: { 'l[0].y': { old_value: 2, new_value: 3 } } },
    ],
    [
      'a key that is no name',
      { 'a.b c': 1 },
      { 'a.b c': 2 },
      { changed: { '["a.b c"]': { old_value: 1, new_value: 2 } } },
    ],
    ['a whole value', 'a', 'b', { changed: { '': { old_value: 'a', new_value: 'b' } } }],
  ])('finds %s', (_, from, to, expected) => {
    expect(findDifferences({ value: from }, { value: to })).toEqual(expected)
  })

  it('is the mirror image in the other direction', () => {
    const one = { a: 1, l: ['x', 'y'], gone: true }
    const two = { a: 2, l: ['x'], fresh: null, more: { k: 'v' } }
    const there = findDifferences({ value: one }, { value: two })
    const back = findDifferences({ value: two }, { value: one })
    expect(back.added).toEqual(there.removed)
    expect(back.removed).toEqual(there.added)
    expect(back.changed).toEqual({ a: { old_value: 2, new_value: 1 } })
  })

  it('skips what is unknown on either side', () => {
    const from = { value: { id: 'x', l: [1, 2] }, unknown: { id: true, l: [false, true] } }
    expect(findDifferences(from, { value: { id: 'y', l: [1, 3], n: 1 } })).toEqual({ added: { n: 1 } })
  })

  it('survives keys of the prototype', () => {
    const from = { value: JSON.parse('{"__proto__": 1}') }
    const to = { value: JSON.parse('{"__proto__": 2}') }
    expect(Object.keys(findDifferences(from, to).changed ?? {})).toEqual(['__proto__'])
  })
})

describe('arguments that an import cannot read', () => {
  const update = { actions: ['update'] }
  it.each<[string, object, object, object?]>([
    ['kubernetes_deployment_v1', { wait_for_rollout: null }, { wait_for_rollout: true }],
    [
      'kubernetes_manifest',
      { object: { a: 1 }, timeouts: [] },
      { object: { a: 1 }, timeouts: [{}], manifest: { a: 1 } },
    ],
    ['aws_sqs_queue', { timeouts: null }, { timeouts: { create: '1m' } }, { timeouts: { delete: true } }],
    ['aws_kms_key', { deletion_window_in_days: null }, { deletion_window_in_days: 30 }],
    ['aws_secretsmanager_secret', { recovery_window_in_days: null }, { recovery_window_in_days: 0 }],
    ['aws_s3_bucket', { force_destroy: null }, { force_destroy: true }],
  ])('are no drift: %s', (type, before, after, after_unknown = {}) => {
    expect(driftOperations(planOf([{ ...update, type, before, after, after_unknown }]))).toEqual([])
  })

  it('are drift where the state has them, and of other types; the rest of the resource is told', () => {
    const has = {
      type: 'kubernetes_deployment_v1',
      before: { wait_for_rollout: true },
      after: { wait_for_rollout: false },
    }
    const other = { type: 'terraform_data', before: { wait_for_rollout: null }, after: { wait_for_rollout: true } }
    const rest = {
      type: 'kubernetes_manifest',
      before: { object: { a: 1 }, manifest: null },
      after: { object: { a: 2 }, manifest: { a: 2 } },
    }
    const plan = planOf([has, other, rest].map((values) => ({ ...update, ...values, after_unknown: {} })))
    expect(driftOperations(plan)).toMatchObject([
      { changes: { changed: { wait_for_rollout: { old_value: false, new_value: true } } } },
      { changes: { removed: { wait_for_rollout: true } } },
      { changes: { changed: { 'object.a': { old_value: 2, new_value: 1 } } } },
    ])
    expect(driftOperations(plan)[2]).not.toHaveProperty('changes.removed')
  })
})
