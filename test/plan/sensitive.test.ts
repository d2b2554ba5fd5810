import { describe, expect, it } from 'vitest'
import { ExactNumber } from '../../src/base/json.ts'
import { MASK } from '../../src/base/masking.ts'
import { createSecretRegister, maskerOf, sensitiveLiterals } from '../../src/plan/sensitive.ts'
import { planOf, planWith } from './fixtures.ts'

describe('the sensitive texts of a plan', () => {
  it('holds every digit of a number', () => {
    const change = { actions: ['create'], after: { tok: new ExactNumber('9223372036854773263') } }
    const plan = planOf([{ ...change, after_sensitive: { tok: true } }])
    expect(maskerOf(plan).text('account 9223372036854773263')).toBe(`account ${MASK}`)
  })

  it('holds the secrets of a document, and not what they are for', () => {
    const document = JSON.stringify({ db: [{ user: 'billing', password: 'tulip-bulb-9' }], private_key: 'k-1\nk-2' })
    const change = { actions: ['create'], after: { secret_string: document, open: '{"password":"hyacinth-4"}' } }
    const plan = planOf([{ ...change, after_sensitive: { secret_string: true } }])
    expect([...sensitiveLiterals(plan)]).toEqual([document, 'k-1\nk-2', 'tulip-bulb-9'])
    expect(maskerOf(plan).text('user = "billing"\npassword = "tulip-bulb-9"')).toBe(
      `user = "billing"\npassword = "${MASK}"`,
    )
  })

  it.each<[string, object, string[]]>([
    [
      'a change, where a mark says so',
      {
        resource_changes: planOf([
          {
            actions: ['update'],
            before: { open: 'no', pin: 1234, on: true, none: null },
            after: { list: ['a', { key: 'b', name: 'c' }], whole: ['d', ['e']] },
            before_sensitive: { pin: true, on: true, none: true },
            after_sensitive: { list: [false, { key: true }], whole: true },
          },
        ]).resource_changes,
      },
      ['1234', 'b', 'd', 'e'],
    ],
    [
      'the state',
      {
        prior_state: {
          values: { root_module: { resources: [{ values: { a: 'x', b: 'y' }, sensitive_values: { a: true } }] } },
        },
      },
      ['x'],
    ],
    ['objects without marks', { prior_state: { resources: [{ values: { a: 'x' } }] } }, []],
    [
      'changed outputs',
      { output_changes: { o: { actions: ['create'], before: 'was', after: 'is', after_sensitive: true }, odd: 'x' } },
      ['is'],
    ],
    [
      'outputs',
      { planned_values: { outputs: { o: { sensitive: true, value: ['x'] }, p: { value: 'y' }, odd: 'z' } } },
      ['x'],
    ],
    [
      'variables of the root and of modules',
      {
        variables: { key: { value: 'given' }, open: { value: 'no' }, short: { value: 'short-lived' } },
        configuration: {
          root_module: {
            variables: {
              key: { sensitive: true, default: 'default' },
              short: { ephemeral: true },
              open: { sensitive: false },
            },
            module_calls: {
              m: {
                expressions: { inner: { constant_value: 'constant' }, plain: { constant_value: 'no' } },
                module: { variables: { inner: { sensitive: true }, key: { sensitive: true }, plain: {} } },
              },
            },
          },
        },
      },
      ['constant', 'default', 'given', 'short-lived'],
    ],
  ])('are those of %s', (_, document, expected) => {
    expect([...sensitiveLiterals(planWith(document))].sort()).toEqual(expected)
  })
})

it('a register masks what it began with and what it learns, and tells what it learned', async () => {
  const register = createSecretRegister(['F1rst-Secret-Word'])
  const change = {
    actions: ['create'],
    before: null,
    after: { key: 'S3cond-Secret-Word' },
    after_sensitive: { key: true },
  }
  await register.learn(planOf([change]))
  register.add(['Th1rd-Secret-Word', 'F1rst-Secret-Word'])
  expect(register.text('F1rst-Secret-Word S3cond-Secret-Word Th1rd-Secret-Word')).toBe(`${MASK} ${MASK} ${MASK}`)
  expect(register.json({ a: ['Th1rd-Secret-Word'] })).toEqual({ a: [MASK] })
  expect(register.learned()).toEqual(['S3cond-Secret-Word', 'Th1rd-Secret-Word'])
})
