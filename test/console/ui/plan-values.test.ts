import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../console/client/json.ts'
import { diffLines, diffWords, likeness } from '../../../console/ui/plan/text-diff.ts'
import {
  columnsOf,
  MAX_VALUE,
  orderAttributes,
  type PlannedAttribute,
  pathParts,
  prettyJson,
  showSide,
} from '../../../console/ui/plan/values.ts'

const changed = (before: unknown, after: unknown, more: Partial<PlannedAttribute> = {}) =>
  ({ path: ['a'], change: 'changed', before, after, ...more }) as PlannedAttribute

describe('a value of a plan', () => {
  it('says what is not there in words', () => {
    expect(showSide(changed('x', null, { unknown: true }), 'after').text).toBe('known after the apply')
    expect(showSide(changed(null, 'x'), 'before').text).toBe('not set')
    expect(showSide(changed('', []), 'before').text).toBe('empty text')
    expect(showSide(changed('', []), 'after').text).toBe('empty list')
    const secret = changed('(sensitive value)', '(sensitive value)', { sensitive: true })
    expect(showSide(secret, 'after')).toMatchObject({ kind: 'note', text: '(sensitive value)' })
  })
  it('quotes a text only where the quotes tell something', () => {
    expect(showSide(changed(14, '14'), 'after').text).toBe('"14"')
    expect(showSide(changed('a', ' b'), 'after').text).toBe('" b"')
    expect(showSide(changed('a', 'b'), 'after').text).toBe('b')
  })
  it('shows control characters and marks of direction, and cuts what is too long', () => {
    expect(showSide(changed('a', 'b\u202ec\u0007'), 'after').text).toBe('b⟨U+202E⟩c␇')
    expect(showSide(changed('a', 'x'.repeat(1_000_000)), 'after').text.length).toBeLessThanOrEqual(MAX_VALUE)
  })
  it('writes JSON on several lines, in one order of keys', () => {
    expect(prettyJson('{"b":1,"a":[2]}')).toBe(prettyJson('{ "a": [2], "b": 1 }'))
    expect(prettyJson('{broken')).toBeNull()
    expect(prettyJson('12')).toBeNull()
  })
  it('shows every digit of a number', () => {
    const value = parseJson('[9007199254740993,{"a":9007199254740993}]') as unknown[]
    expect(showSide(changed(9007199254740992, value[0]), 'after').text).toBe('9007199254740993')
    expect(showSide(changed(null, value[1]), 'after').text).toBe('{\n  "a": 9007199254740993\n}')
    expect(prettyJson('{"a":9007199254740993}')).toBe('{\n  "a": 9007199254740993\n}')
  })
  it('counts items from one', () => {
    expect(pathParts(['rule', 0, 'port'])).toEqual(['rule', 'item 1', 'port'])
  })
})

describe('the order of attributes', () => {
  it('begins with what forces a replacement, also inside of a block, and ends with what stays', () => {
    const attributes = [
      changed(1, 1, { path: ['id'], change: 'same' }),
      changed(1, 2, { path: ['size'] }),
      changed(1, 2, { path: ['disk', 0, 'type'] }),
    ]
    const replace = { order: 'delete_first' as const, keeps_old: false, reasons: [{ path: ['disk'] }] }
    expect(
      orderAttributes({ attributes, replace }).map(({ attribute, forces }) => [attribute.path[0], forces]),
    ).toEqual([
      ['disk', true],
      ['size', false],
      ['id', false],
    ])
  })
  it('needs no column for a side that has nothing', () => {
    expect(columnsOf([changed(null, 1, { change: 'added' })])).toEqual(['after'])
    expect(columnsOf([changed(1, null, { change: 'removed' })])).toEqual(['before'])
    expect(columnsOf([changed(1, 2)])).toEqual(['before', 'after'])
  })
})

describe('a difference of texts', () => {
  it('marks the words that differ', () => {
    expect(diffWords('acme-logs-eu', 'acme-logs-west')).toEqual([
      { kind: 'same', text: 'acme-logs-' },
      { kind: 'removed', text: 'eu' },
      { kind: 'added', text: 'west' },
    ])
  })
  it('keeps both texts whole, whatever their length', () => {
    const [a, b] = ['a b '.repeat(4_000), 'c b '.repeat(4_000)]
    const side = (kind: 'removed' | 'added') =>
      diffWords(a, b)
        .filter((piece) => piece.kind === 'same' || piece.kind === kind)
        .map(({ text }) => text)
        .join('')
    expect(side('removed')).toBe(a)
    expect(side('added')).toBe(b)
  })
  it('folds lines that stay', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    const pieces = diffLines(lines.join('\n'), lines.with(20, 'other').join('\n'))
    expect(pieces.map(({ text }) => text)).toContain('… 17 lines stay the same')
    expect(pieces).toContainEqual({ kind: 'removed', text: 'line 20' })
    expect(pieces).toContainEqual({ kind: 'added', text: 'other' })
  })
  it('tells how alike they are', () => {
    expect(likeness(diffWords('same', 'same'))).toBe(1)
    expect(likeness(diffWords('abc', 'xyz'))).toBe(0)
  })
})
