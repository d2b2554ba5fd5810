import { expect, it } from 'vitest'
import { applyChanges, toText } from '../../../console/client/use-address.ts'

it('changes only what is named, takes blanks out, and writes what the address can show plainly', () => {
  expect(applyChanges({ view: 'all', page: 3 }, { search: 'x', page: '', locked: 'true', number: '7' })).toEqual({
    view: 'all',
    search: 'x',
    locked: true,
    number: 7,
  })
  expect(applyChanges({}, { search: '007', id: '12345678901' })).toEqual({ search: '007', id: '12345678901' })
})

it('reads plain values as text and everything else as blank', () => {
  expect(['x', 7, true, undefined, null, { a: 1 }, ['x']].map(toText)).toEqual(['x', '7', 'true', '', '', '', ''])
})
