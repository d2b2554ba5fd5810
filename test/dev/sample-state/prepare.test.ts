import { expect, test } from 'vitest'
import { changeByHand, type ManualChange, type StateDocument } from '../../../dev/sample-state/prepare.ts'

const dynamic = (value: object) => ({ value, type: ['object', { days: 'number' }] })
const state = (days: number): StateDocument => ({
  serial: 4,
  resources: [
    {
      type: 'terraform_data',
      name: 'logs',
      instances: [{ attributes: { id: 'x', input: dynamic({ days }), output: dynamic({ days }) } }],
    },
  ],
})
const change: ManualChange = { name: 'logs', attribute: 'days', from: 30, to: 90 }

test('input and output change, the serial rises, the given state stays as it was', () => {
  const before = state(90)
  const after = changeByHand(before, [change])
  expect(after).toEqual({ ...state(30), serial: 5 })
  expect(before).toEqual(state(90))
})

test('what the code says already is changed to the other value', () => {
  expect(changeByHand(state(30), [change])).toEqual({ ...state(90), serial: 5 })
})

test.each([
  { ...change, name: 'other' },
  { ...change, attribute: 'hours' },
])('a setting that is not there is refused', (wrong) => {
  expect(() => changeByHand(state(90), [wrong])).toThrow(/holds no/)
})
