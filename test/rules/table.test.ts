import { describe, expect, it } from 'vitest'
import type { FaultClass } from '../../src/rules/classes.ts'
import type { Subject } from '../../src/rules/rule.ts'
import { rowsOf, tableRules } from '../../src/rules/table.ts'
import { constant, reference } from './support.ts'

const words = { title: 'A title', reason: 'A reason', fix: 'A fix', severity: 'error', says: 'is bad' } as const
const one: FaultClass = { name: 'family.fault', ...words }
const two: FaultClass = { ...one, byDefault: { name: 'family.by-default', ...words } }

/** Last parts of the ids of the rules of a class with this row that find something in values. */
function found(
  row: string,
  values: Subject['values'],
  {
    unknown,
    code = {},
    faults = one,
  }: { unknown?: Subject['unknown']; code?: Subject['values']; faults?: FaultClass } = {},
): string[] {
  const subject: Subject = {
    address: 'aws_x.y',
    type: 'aws_x',
    action: 'create',
    values,
    unknown,
    sensitive: undefined,
    before: {},
  }
  const context = { outside: new Set<string>(), unasked: new Set<string>(), unread: [], expressionsOf: () => code }
  return tableRules('aws', `[ONE]\nhttps://example.com\naws_x ${row}`, { ONE: faults }).flatMap((rule) =>
    'check' in rule && rule.check(subject, context).length > 0 ? [rule.id.replace('aws.family.', '')] : [],
  )
}
const F = ['fault']

describe('a row finds', () => {
  it.each([
    ['a false', 'on false', { on: false }, F],
    ['not a true', 'on false', { on: true }, []],
    ['a switch as text', 'on false', { on: 'false' }, F],
    ['a number', 'days 0', { days: 0 }, F],
    ['a smaller number', 'days <7', { days: 1 }, F],
    ['not the number itself', 'days <7', { days: 7 }, []],
    ['no absent number', 'days <7', { days: null }, []],
    ['one of several texts in any case', 'mode A,B*', { mode: 'beta' }, F],
    ['one of several faults', 'mode A|B', { mode: 'B' }, F],
    ['not another text', 'mode A,B*', { mode: 'c' }, []],
    ['what is not among texts', 'mode not:A,B', { mode: 'c' }, F],
    ['not what is among texts', 'mode not:A,B', { mode: 'A' }, []],
    ['an item of a list', 'modes A', { modes: ['b', 'A'] }, F],
    ['a range of the internet', 'cidrs open', { cidrs: ['10.0.0.0/8', '0.0.0.0/0'] }, F],
    ['no range of a network', 'cidrs open', { cidrs: ['10.0.0.0/8'] }, []],
    ['anything that is set', 'mode set', { mode: 'x' }, F],
    ['a block', 'a.b.on false', { a: [{ b: [{ on: true }, { on: false }] }] }, F],
    ['a chosen block', 'parameter[name=a.b].value 0', { parameter: [{ name: 'a.b', value: '0' }] }, F],
    ['no other block', 'parameter[name=a.b].value 0', { parameter: [{ name: 'c', value: '0' }] }, []],
    ['what is unset', 'on unset', { on: null }, F],
    ['an empty list', 'on unset', { on: [] }, F],
    ['a block that is not there', 'a.on unset', { a: [] }, F],
    ['a chosen block that is not there', 'p[name=a].value unset', { p: [{ name: 'b', value: '1' }] }, F],
    ['no missing block where only its argument counts', 'a.on unset-inside', { a: [] }, []],
    ['an argument unset in its block', 'a.on unset-inside', { a: [{ x: 1 }] }, F],
    ['a missing block whose argument has a good default', 'a.on unset-outside', { a: [] }, F],
    ['nothing in a block with a good default', 'a.on unset-outside', { a: [{ x: 1 }] }, []],
    ['blocks but some', 'a[x!=s3*].on false', { a: [{ x: 's3-y', on: false }] }, []],
    ['blocks that are not among some', 'a[x!=s3*].on false', { a: [{ x: 'ec2', on: false }] }, F],
    ['a document in JSON', 'a.B.On false', { a: '{"B":[{"On":false}]}' }, F],
    ['nothing in what is no document', 'a.B.On false', { a: 'text' }, []],
    ['what meets a condition', 'on false if mode=A,B', { on: false, mode: 'B' }, F],
    ['not what does not', 'on false if mode=A,B', { on: false, mode: null }, []],
    ['not what an exception names', 'on false if mode!=A', { on: false, mode: 'A' }, []],
    ['what no exception names', 'on false if mode!=A', { on: false, mode: null }, F],
    ['what is not there', 'on false if !copy_of', { on: false }, F],
    ['not a copy', 'on false if !copy_of', { on: false, copy_of: 'x' }, []],
    ['what has another argument', 'on false if a.b', { on: false, a: [{ b: 1 }] }, F],
  ] as [string, string, Subject['values'], string[]][])('%s: %s', (_, row, values, expected) => {
    expect(found(row, values)).toEqual(expected)
  })

  it('nothing in what is known after the apply', () => {
    for (const row of ['on false|unset', 'a.on false|unset', 'p[name=a].value unset'])
      expect(found(row, { on: null, a: null }, { unknown: { on: true, a: true, p: true } })).toEqual([])
  })

  it('what the code leaves unset, although its value is known after the apply', () => {
    const code = { name: constant('x') }
    expect(found('on unset', {}, { unknown: { on: true }, code })).toEqual(F)
    expect(found('a.on unset', {}, { unknown: { a: true }, code })).toEqual(F)
    expect(found('on unset', {}, { unknown: { on: true }, code: { on: reference('var.on') } })).toEqual([])
    const nested = { a: [{ x: constant(1) }] }
    expect(found('a.on unset', { a: [{ x: 1 }] }, { unknown: { a: [{ on: true }] }, code: nested })).toEqual(F)
  })

  it('nothing where a condition is known after the apply', () => {
    expect(found('on false if mode=A', { on: false }, { unknown: { mode: true } })).toEqual([])
    expect(found('on false if !copy_of', { on: false }, { unknown: { copy_of: true } })).toEqual([])
  })
})

describe('a class of two rules', () => {
  it('tells what the code sets from what it leaves to the provider', () => {
    const row = 'on false|unset'
    const code = { name: constant('x') }
    expect(found(row, { on: false }, { faults: two, code: { on: constant(false) } })).toEqual(['fault'])
    expect(found(row, { on: false }, { faults: two, code })).toEqual(['by-default'])
    expect(found(row, { on: null }, { faults: two })).toEqual(['by-default'])
    const block = { a: [{ on: false }] }
    expect(found('a.on false', block, { faults: two, code: { a: [{ on: constant(false) }] } })).toEqual(['fault'])
    expect(found('a.on false', block, { faults: two, code: { a: [{}] } })).toEqual(['by-default'])
    // A dynamic block does not stand in the configuration of a plan.
    expect(found('a.on false', block, { faults: two, code })).toEqual(['fault'])
  })
})

it.each([
  'aws_x',
  'aws_x on',
  'aws_x on false when a=b',
  'aws_x on false if',
  'aws_x On[ false',
])('a malformed line throws: %s', (line) => {
  expect(() => tableRules('aws', `[ONE]\nhttps://example.com\n${line}`, { ONE: one })).toThrow()
})

it('a line without a source throws', () => {
  expect(() => rowsOf('aws_x on false')).toThrow()
})

it('a section without a class throws, and a comment is left out', () => {
  const table = '[TWO]\n# says why\nhttps://example.com\naws_x on false'
  expect(() => tableRules('aws', table, { ONE: one })).toThrow()
  expect(tableRules('aws', table, { TWO: one })).toHaveLength(1)
})
