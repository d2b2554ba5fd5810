import { expect, it } from 'vitest'
import { pickSearch, toValue } from '../../../console/client/use-address.ts'

it('writes what the address can show plainly, and removes blanks', () =>
  expect(['x', '', undefined, 'true', '7', '007', '12345678901'].map(toValue)).toEqual([
    'x',
    undefined,
    undefined,
    true,
    7,
    '007',
    '12345678901',
  ]))

it('keeps the named parameters, and lists and objects as their JSON', () =>
  expect(pickSearch(['a', 'b', 'c', 'd', 'e'])({ a: 'x', b: 7, c: null, d: ['x'], other: 1 })).toEqual({
    a: 'x',
    b: 7,
    d: '["x"]',
  }))
