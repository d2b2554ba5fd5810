import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { impactPoint } from './artifacts.ts'
import { done, GATES, SETTINGS, targets, write } from './scripts.ts'
import { runGenerate, startStack, watched } from './stack.ts'

const stack = startOnce(startStack)
const TITLE = 'What was checked, and what was not'

const resource = (name: string, input: string) => `resource "terraform_data" "${name}" {\n  input = ${input}\n}\n`
/** Code with a resource and the call of a module that changes, and a resource that stays. */
const json = (input: number) =>
  JSON.stringify({
    resource: { terraform_data: { a: { input }, b: { input: 1 } } },
    module: { m: { source: './m', input } },
  })
const MODULE = `variable "input" {}\n${resource('c', 'var.input')}`
const OTHER = resource('other', '"x"')

/** Runs a round that writes files, and whose model names one target alone; returns the first targets. */
async function targetsOf(before: Record<string, string>, after: Record<string, string | null>): Promise<string[]> {
  const { iac, plans } = watched(stack)
  const calls = Object.entries({ ...after, 'settings.tf': SETTINGS }).map(
    ([path, text]): [string, Record<string, unknown>] =>
      text === null ? ['delete_file', { target_file: path }] : ['write_to_file', { target_file: path, content: text }],
  )
  const scripts = {
    task_complete: [{ calls }, done('Changed.')],
    generate_engine_targets: targets('terraform_data.other'),
  }
  const request = { files: { 'other.tf': OTHER, 'm/main.tf': MODULE, ...before } }
  const { session } = await runGenerate(stack, scripts, { iac, orchestration: GATES, request })
  expect(session.statuses.at(-1)).toBe('completed')
  return plans()[0] ?? []
}

describe('the targets of a round, where a model misses one', () => {
  it.each<[string, Record<string, string>, Record<string, string | null>, string[]]>([
    [
      'lines of dashes and plus signs in a text',
      { 'main.tf': resource('a', '<<S\n-- a\nselect 1\nS') + resource('b', '<<S\n++ b\nselect 1\nS') },
      { 'main.tf': resource('a', '<<S\nselect 1\nS') + resource('b', '<<S\n++ c\nselect 1\nS') },
      ['terraform_data.other', 'terraform_data.a', 'terraform_data.b'],
    ],
    [
      'blanks and line ends in a text',
      { 'main.tf': resource('a', '<<S\na b\nS') + resource('b', '<<S\na\nS') },
      { 'main.tf': resource('a', '<<S\na  b\nS') + resource('b', '<<S\r\na\r\nS') },
      ['terraform_data.other', 'terraform_data.a', 'terraform_data.b'],
    ],
    [
      'a file in the JSON syntax',
      { 'main.tf.json': json(1) },
      { 'main.tf.json': json(2) },
      ['terraform_data.other', 'terraform_data.a', 'module.m'],
    ],
    [
      'a file behind changes of several MiB',
      {
        'a.tf': '# a comment\n'.repeat(180_000),
        'b.tf': '# a comment\n'.repeat(190_000),
        'main.tf': resource('a', '1'),
      },
      { 'a.tf': null, 'b.tf': null, 'main.tf': resource('a', '2') },
      ['terraform_data.other', 'terraform_data.a'],
    ],
    [
      'a block that is new in a file of another name, and none that moved, was formatted or got a comment',
      { 'main.tf': resource('a', '1') + resource('b', '1') + resource('c', '1') },
      {
        'main.tf': null,
        'new.tf': `${resource('b', '  1 # one')}${resource('a', '2')}`,
        'c.tf': `# why\n${resource('c', '1').replace('input = 1', 'input=1')}`,
      },
      ['terraform_data.other', 'terraform_data.a'],
    ],
  ])('name what changed of %s', async (_, before, after, expected) => {
    expect(await targetsOf(before, after)).toEqual(expected)
  })
})

it('plans the values of an environment whose text has lines of dashes', async () => {
  const values = (query: string, size: number) => `query = <<-S\n${query}select 1\nS\nsize  = ${size}\n`
  const files = {
    'main.tf': `variable "query" {\n  default = ""\n}\nvariable "size" {\n  default = 1\n}\n${resource('a', '[var.query, var.size]')}`,
    'prod.tfvars': values('-- old note\n', 1),
  }
  const scripts = {
    task_complete: [write('prod.tfvars', values('++ new note\n', 4)), done('4.')],
  }
  const { session } = await runGenerate(stack, scripts, { orchestration: GATES, request: { files } })
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await impactPoint(stack, session.uuid, TITLE)).toContain('`size` = 4 (before this session 1)')
})
