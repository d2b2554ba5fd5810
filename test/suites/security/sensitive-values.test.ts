import { expect } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import { parsePlan } from '../../../src/plan/plan.ts'
import { createSecretRegister } from '../../../src/plan/sensitive.ts'
import { attack } from './attack.ts'

const GROUP = 'sensitive values of a plan'

/** Makes a plan whose outputs are these values, all marked as sensitive. */
const planWith = (values: readonly string[]) =>
  parsePlan(
    JSON.stringify({
      format_version: '1.2',
      resource_changes: [],
      output_changes: { all: { actions: ['create'], before: null, after: values, after_sensitive: true } },
    }),
  )

/** Masks a text that holds every value once, and checks that none is left. Returns the milliseconds. */
function maskAll(values: readonly string[], between: string): number {
  const register = createSecretRegister()
  const started = performance.now()
  register.learn(planWith(values))
  const masked = register.text(values.join(between))
  const took = performance.now() - started
  expect(masked.split(MASK)).toHaveLength(values.length + 1)
  expect(masked.replaceAll(MASK, '').replaceAll(between, '')).toBe('')
  return took
}

const numbered = (count: number, toValue: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => toValue(i))

attack(GROUP, 'so many of them that masking fails', async () => {
  const word = (index: number) => String(10_000 + index).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))
  maskAll(numbered(16_000, word), '" "')
  return 'a table of all values instead of one regular expression'
})

attack(GROUP, 'values between which every digit has to be compared', async () => {
  const values = numbered(12_000, (index) => String(100_000 + index * 7))
  expect(maskAll(values, `\n${'9'.repeat(400)} = `)).toBeLessThan(10_000)
  return 'the time grows with the text, not with the number of values'
})

attack(GROUP, 'values that differ only at their ends', async () => {
  const values = numbered(12_000, (index) => `${'ghp_'.repeat(20)}${index}`)
  expect(maskAll(values, `\n${'ghp_'.repeat(40)}- `)).toBeLessThan(10_000)
  return 'values that begin alike are found by bisection'
})

attack(GROUP, 'one long value that matches at every place of a text', async () => {
  const register = createSecretRegister()
  register.learn(planWith(['a'.repeat(150_000)]))
  expect(register.text(`x${'a'.repeat(400_000)}y`)).toBe(`x${MASK}y`)
  return 'a long value is found by its pieces, so that a place takes the same time however long the value is'
})
