import { describe, expect, it } from 'vitest'
import { describePlan, describeRequests } from '../../../src/chains/shared/plan-background.ts'
import { condensePlanText } from '../../../src/plan/plan-text.ts'
import type { SessionRequest } from '../../../src/sessions/session-requests.ts'
import { planOf } from '../../plan/fixtures.ts'
import { readBlocks } from '../../prompts/blocks.ts'

const session = (texts: string[]): SessionRequest[] =>
  texts.map((text, index) => ({ number: index + 1, text, fate: index === texts.length - 1 ? 'present' : 'built' }))

describe('describeRequests', () => {
  it('names the present request last, after those that it may reverse', () => {
    const text = describeRequests(session(['keep 35 days', 'add an alarm', 'make it 7 days elsewhere']))
    expect(readBlocks(text).map(({ content }) => content.trim())).toEqual([
      'keep 35 days',
      'add an alarm',
      'make it 7 days elsewhere',
    ])
    expect(text).toContain('request 3 is the present one and counts above all')
    expect(text).toContain('Request 3, the present one:')
    expect(text).toContain('Each later request counts where it contradicts an earlier one')
  })

  it('stays short in a long session: the first and the last ones whole, the beginning of those between', () => {
    const long = (number: number) => `begin ${number} ${'x'.repeat(5_000)} end ${number}`
    const text = describeRequests(session(Array.from({ length: 200 }, (_, index) => long(index + 1))))
    for (const number of [1, 193, 200]) expect(text).toContain(long(number))
    expect(text).toContain('begin 192 ')
    expect(text).not.toContain(long(192))
    expect(text).not.toContain('begin 2 ')
    expect(text).toContain('151 requests after it are not shown.')
    expect(text.length).toBeLessThan(100_000)
  })
})

describe('condensePlanText', () => {
  const plan = (...lines: string[]) => condensePlanText(lines.join('\n')).split('\n')

  it('changes nothing inside of a text, whose blanks may be the change', () => {
    const text = [
      '  ~ resource "terraform_data" "a" {',
      '      ~ input = {',
      '          ~ n = 1 -> 2',
      '          ~ text = <<-EOT',
      '              - name  = "x"',
      '              + name = "x"',
      '                EOT',
      '              + b = (known after apply)',
      '            EOT',
      '        }',
      '      ~ list = [',
      '          - <<-EOT',
      '                c   = 5',
      '            EOT,',
      '        ]',
      '    }',
    ]
    expect(plan(...text)).toEqual(text)
    expect(plan('      + text     = <<-EOT', '            a  = 1', '        EOT', '      + longer_n = 1')).toEqual([
      '      + text = <<-EOT',
      '            a  = 1',
      '        EOT',
      '      + longer_n = 1',
    ])
  })

  it('names what is known after the apply on one line of its block, and what equals another value', () => {
    expect(
      plan(
        '  # a_bucket.one will be created',
        '  + resource "a_bucket" "one" {',
        '      + arn      = (known after apply)',
        '      + name     = "x"',
        '      + id       = (known after apply)',
        '      + tags     = {',
        '          + "Name" = "x"',
        '        }',
        '      + tags_all = {',
        '          + "Name" = "x"',
        '        }',
        '',
        '      + grant {',
        '          + id   = (known after apply)',
        '          + type = "Group"',
        '        }',
        '    }',
      ),
    ).toEqual([
      '  # a_bucket.one will be created',
      '  + resource {',
      '      + name = "x"',
      '      + tags = {',
      '          + "Name" = "x"',
      '        }',
      '      + tags_all = (as tags)',
      '',
      '      + grant {',
      '          + type = "Group"',
      '          + (known after apply): id',
      '        }',
      '      + (known after apply): arn, id',
      '    }',
    ])
  })

  it('refers to a long value of another resource, and repeats no address above its block', () => {
    const tags = ['          + "Name" = "x"', `          + "Note" = "${'long '.repeat(20)}"`, '        }']
    const resource = (address: string, block: string, name: string) => [
      `  # ${address} will be created`,
      `  + resource ${block} {`,
      `      + ${name} = {`,
      ...tags,
      '    }',
    ]
    const lines = [
      ...resource('module.m["k"].a_bucket.one[0]', '"a_bucket" "one"', 'tags'),
      ...resource('a_bucket.two', '"a_bucket" "two"', 'labels'),
      ...resource('a_bucket.three', '"a_bucket" "other"', 'tags'),
    ]
    expect(plan(...lines)).toEqual([
      '  # module.m["k"].a_bucket.one[0] will be created',
      '  + resource {',
      '      + tags = {',
      ...tags,
      '    }',
      '  # a_bucket.two will be created',
      '  + resource {',
      '      + labels = (as tags of module.m["k"].a_bucket.one[0])',
      '    }',
      '  # a_bucket.three will be created',
      '  + resource "a_bucket" "other" {',
      '      + tags = (as tags of module.m["k"].a_bucket.one[0])',
      '    }',
    ])
  })

  it('keeps what differs, what changes, and what is short and another resource has', () => {
    const lines = [
      '  # a_bucket.one will be updated in-place',
      '  ~ resource "a_bucket" "one" {',
      '      ~ arn = "x" -> (known after apply)',
      '      ~ tags = {',
      '          + "Name" = "x"',
      '        }',
      '      ~ tags_all = {',
      '          + "Name" = "y"',
      '        }',
      '    }',
      '  # a_bucket.two will be updated in-place',
      '      ~ labels = {',
      '          + "Name" = "x"',
      '        }',
      '      + note = <<-EOT',
      '            + a = [',
      '        EOT',
      'Plan: 0 to add, 2 to change, 0 to destroy.',
    ]
    expect(plan(...lines)).toEqual(lines.map((line) => line.replace(' "a_bucket" "one" {', ' {')))
  })
})

const shown = (text: string) =>
  describePlan({ plan: planOf([]), text, reference: { targets: [] } }, { text: (value) => value })

it('says what is outside of the plan in a paragraph of its own', () => {
  const read = { plan: planOf([]), text: 'the plan', reference: { targets: ['a.b'] } }
  const described = describePlan({ ...read, beyond: { made: true, changes: [] } }, { text: (value) => value })
  expect(described.split('\n\n')).toEqual([
    'Computed from the plan: 0 to create, 0 to update, 0 to delete, 0 to recreate',
    'Not part of this plan, for information only: A plan of the whole root changes nothing outside the targets.',
    'the plan',
  ])
})

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
  const described = shown(text)
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
  expect(shown(`Plan: 1 to add.\n\n${warning}\nWarning: Other\n`)).toMatch(/Plan: 1 to add\.\n\nWarning: Other\n$/)
})
