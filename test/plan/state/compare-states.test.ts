import { describe, expect, it } from 'vitest'
import { compareStates, describeMoves, hasMoved, parseState } from '../../../src/plan/state/state.ts'

const resource = (name: string, attributes: object, changes: object = {}) => ({
  mode: 'managed',
  type: 'aws_x',
  name,
  instances: [{ attributes }],
  ...changes,
})
const state = (resources: unknown, changes: object = {}) =>
  parseState(JSON.stringify({ version: 4, lineage: 'l', serial: 3, resources, ...changes }))

describe('parseState', () => {
  it('names objects as the engine does, without data sources', () => {
    const parsed = state([
      resource('plain', { id: 1 }),
      resource(
        'many',
        {},
        {
          instances: [
            { index_key: 0, attributes: {} },
            { index_key: 1, attributes: {} },
          ],
        },
      ),
      resource('each', {}, { module: 'module.m["a b"]', instances: [{ index_key: 'x "y"', attributes: {} }] }),
      resource('left', {}, { instances: [{ attributes: {} }, { deposed: '0a1b2c3d', attributes: {} }] }),
      resource('read', {}, { mode: 'data' }),
    ])
    expect([...(parsed?.objects.keys() ?? [])]).toEqual([
      'aws_x.plain',
      'aws_x.many[0]',
      'aws_x.many[1]',
      'module.m["a b"].aws_x.each["x \\"y\\""]',
      'aws_x.left',
      'aws_x.left (deposed object 0a1b2c3d)',
    ])
    expect(parsed).toMatchObject({ lineage: 'l', serial: 3 })
  })

  it.each([
    ['no JSON', 'state'],
    ['a list', '[]'],
    ['no serial', '{"lineage":"l","resources":[]}'],
    ['a broken serial', '{"lineage":"l","serial":-1}'],
  ])('is null for %s', (_, text) => expect(parseState(text)).toBeNull())

  it('reads the version of a state whose objects are encrypted or of another form', () => {
    expect(parseState('{"lineage":"l","serial":7,"encrypted_data":"x","encryption_version":"v0"}')).toMatchObject({
      serial: 7,
    })
    expect(state([resource('odd', {}, { instances: 'what?' })])?.objects.size).toBe(0)
    expect(state([resource('odd', {}, { instances: [{ attributes: 'what?' }] })])?.objects.get('aws_x.odd')).toEqual({})
    expect(state([resource('fine', {}), { mode: 'managed' }])?.objects.size).toBe(0)
    expect(state('what?')).toMatchObject({ serial: 3, objects: new Map() })
  })
})

describe('hasMoved', () => {
  it.each([
    ['the same', { lineage: 'a', serial: 1 }, { lineage: 'a', serial: 1 }, false],
    ['written since', { lineage: 'a', serial: 1 }, { lineage: 'a', serial: 2 }, true],
    ['written back', { lineage: 'a', serial: 2 }, { lineage: 'a', serial: 1 }, true],
    ['another one', { lineage: 'a', serial: 1 }, { lineage: 'b', serial: 1 }, true],
    ['none, then and now', { lineage: '', serial: 0 }, { lineage: '', serial: 0 }, false],
    ['gone', { lineage: 'a', serial: 1 }, { lineage: '', serial: 0 }, true],
    ['there for the first time', { lineage: '', serial: 0 }, { lineage: 'a', serial: 1 }, true],
  ])('%s: %j, %j is %s', (_, before, now, moved) => expect(hasMoved(before, now)).toBe(moved))
})

describe('compareStates', () => {
  it('names objects and attributes, never values', () => {
    const before = state([resource('kept', { a: 1, b: { c: 'secret-1' }, gone: 1 }), resource('old', {})])
    const now = state([resource('kept', { a: 1, b: { c: 'secret-2' }, new: 1 }), resource('made', {})])
    if (!before || !now) throw new Error('no state')
    const moves = compareStates(before, now)
    expect(moves).toEqual({
      added: ['aws_x.made'],
      removed: ['aws_x.old'],
      changed: [{ address: 'aws_x.kept', attributes: ['b', 'gone', 'new'] }],
    })
    expect(describeMoves(moves)).toBe(
      'Since then: added aws_x.made; removed aws_x.old; changed aws_x.kept (b, gone, new).',
    )
    expect(describeMoves(compareStates(now, now))).toBe('No managed object differs.')
  })

  it('names so many and counts the rest', () => {
    const now = state(Array.from({ length: 60 }, (_, index) => resource(`r${String(index).padStart(2, '0')}`, {})))
    const none = state([])
    if (!none || !now) throw new Error('no state')
    expect(describeMoves(compareStates(none, now))).toMatch(
      /^Since then: added aws_x\.r00, .*aws_x\.r49 and 10 more\.$/,
    )
  })
})
