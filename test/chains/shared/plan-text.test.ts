import { expect, it } from 'vitest'
import { describePlan } from '../../../src/chains/shared/plan-text.ts'
import { planOf } from '../../plan/fixtures.ts'

const describe = (text: string) =>
  describePlan({ plan: planOf([]), text, reference: { targets: [] } }, { text: (value) => value })

it('leaves out the warning about targets, which are the choice of the platform', () => {
  const text = [
    'Plan: 1 to add, 0 to change, 0 to destroy.',
    '╷',
    '│ Warning: Resource targeting is in effect',
    '│ ',
    '│ You are creating a plan with the -target option, which means that the result',
    '│ of this plan may not represent all of the changes requested.',
    '╵',
    '╷',
    '│ Warning: Deprecated argument',
    '│ ',
    '│ Resource targeting is in effect',
    '╵',
    'end',
  ].join('\n')
  const described = describe(text)
  expect(described).not.toContain('-target option')
  expect(described).toContain('Plan: 1 to add, 0 to change, 0 to destroy.\n╷\n│ Warning: Deprecated argument')
  expect(described.endsWith('╵\nend')).toBe(true)
})

it('leaves it out in the form without a frame as well', () => {
  const warning = [
    'Warning: Resource targeting is in effect',
    '',
    'You are creating a plan with the -target option, which means that the result',
    'of this plan may not represent all of the changes requested by the current',
    'configuration.',
    '',
    'The -target option is not for routine use, and is provided only for',
    'exceptional situations such as recovering from errors or mistakes, or when',
    'Terraform specifically suggests to use it as part of an error message.',
    '',
  ].join('\n')
  expect(describe(`Plan: 1 to add.\n\n${warning}\nWarning: Other\n`)).toMatch(/Plan: 1 to add\.\n\nWarning: Other\n$/)
})
