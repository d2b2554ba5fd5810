import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { type Reply, said } from '../../pipeline/steps/scripted-llm.ts'
import { impactPoint } from './artifacts.ts'
import { done, GATES, targets, write } from './scripts.ts'
import { planPath, runGenerate, type SessionView, startStack } from './stack.ts'

const stack = startOnce(startStack)
/** Rounds of this file run the engine up to four times as often as others. */
const LONG_MS = 180_000

const variable = (rest = '') => `variable "retention_days" {\n  type    = number\n  default = 30\n${rest}}\n`
const FILES = {
  'main.tf': 'resource "terraform_data" "logs" {\n  input = { days = var.retention_days, name = var.name }\n}\n',
  'variables.tf': `${variable()}\nvariable "name" {\n  type    = string\n  default = "logs"\n}\n`,
  'terraform.tfvars': 'retention_days = 30\n',
  'prod.tfvars': 'retention_days = 35\n',
  'envs/staging.tfvars': 'retention_days = 14\n',
  'environments/test/terraform.tfvars': 'name = "test"\n',
  'other/main.tf': 'variable "name" {}\n',
  'other/terraform.tfvars': 'name = "other"\n',
}
const TITLE = 'What was checked, and what was not'

async function remarksOf({ uuid }: SessionView): Promise<string[]> {
  const text = (await impactPoint(stack, uuid, TITLE)) ?? ''
  return text.split('\n- ').slice(1)
}

/** Runs a round whose generator gives these answers. */
const round = (task_complete: Reply[], files: Record<string, string> = FILES) =>
  runGenerate(
    stack,
    { task_complete, generate_engine_targets: targets() },
    { orchestration: GATES, request: { files } },
  )

describe('a request about the variables of several environments', () => {
  it('is planned with each file that sets them, and says with which it was not', async () => {
    const { llm, session } = await round([write('envs/staging.tfvars', 'retention_days = 7\n'), done('7 in staging.')])
    expect(session.statuses.at(-1)).toBe('completed')
    const remarks = [
      'Not tried with the values of `environments/test/terraform.tfvars`: the session changed no variable that is set ' +
        'there. What it added was not checked with these values.',
      expect.stringMatching(
        /^The plan under review is that of the environment whose values the engine reads by itself/,
      ),
      'Tried with the values of `envs/staging.tfvars`: the code is valid, with 1 resource in all; `retention_days` = 7 ' +
        '(before this session 14).',
      'Tried with the values of `prod.tfvars`: the code is valid, with 1 resource in all; `retention_days` = 35.',
    ]
    expect((await remarksOf(session)).sort()).toEqual(remarks)
    for (const chain of ['generate_engine_plan_report', 'report_compliance_findings'])
      for (const remark of remarks.filter((text) => typeof text === 'string'))
        expect(said(llm.of(chain)[0])).toContain(remark)
    expect(readdirSync(dirname(planPath(stack, session.uuid)))).toEqual(['saved-plan'])
  })

  it(
    'goes back to the generator when an environment fails that was valid before',
    async () => {
      const bound = 'condition     = var.retention_days < 35\n    error_message = "Too long."'
      const strict = FILES['variables.tf'].replace(variable(), variable(`  validation {\n    ${bound}\n  }\n`))
      const { llm, session } = await round([
        ...[write('variables.tf', strict), done('Stricter.')],
        ...[write('prod.tfvars', 'retention_days = 34\n'), done('And production follows.')],
      ])
      expect(session.statuses.at(-1)).toBe('completed')
      const repair = said(llm.of('task_complete')[2])
      expect(repair).toContain('With prod.tfvars:')
      expect(repair).toContain('Too long.')
      expect(await remarksOf(session)).toContain(
        'Tried with the values of `prod.tfvars`: the code is valid, with 1 resource in all; `retention_days` = 34 ' +
          '(before this session 35).',
      )
    },
    LONG_MS,
  )

  it('tells of an environment that failed before as well, and spends no attempt on it', async () => {
    const broken = { ...FILES, 'prod.tfvars': 'retention_days = "many"\n' }
    const generator = [write('envs/staging.tfvars', 'retention_days = 7\n'), done('7 in staging.')]
    const { llm, session } = await round(generator, broken)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of('task_complete')).toHaveLength(2)
    const remarks = await remarksOf(session)
    expect(
      remarks.find((line) => line.startsWith('Tried with the values of `prod.tfvars`: the code fails: ')),
    ).toContain('a number is required')
  })
})

describe('an environment that fails', () => {
  const strict = FILES['variables.tf'].replace(
    variable(),
    variable('  validation {\n    condition     = var.retention_days < 35\n    error_message = "Too long."\n  }\n'),
  )
  const FAILS = 'Tried with the values of `prod.tfvars`: the code fails'
  it.each([
    ['by the values that the session wrote', FILES, 'retention_days = "many"\n', ', and did not before this session: '],
    [
      'with new values as it did with those from before',
      { ...FILES, 'prod.tfvars': 'retention_days = "many"\n' },
      'retention_days = 50\n',
      ': ',
    ],
  ])(
    'is compared with the code and the values from before the session: %s',
    async (_, files, values, words) => {
      const code = files === FILES ? [] : [write('variables.tf', strict)]
      const { session } = await round([...code, write('prod.tfvars', values), done('Changed it.')], files)
      const remarks = await remarksOf(session)
      expect(remarks.filter((line) => line.startsWith(FAILS))).toEqual([expect.stringContaining(FAILS + words)])
    },
    LONG_MS,
  )
})

it('plans no other environment for a request that changes no variable', async () => {
  const { session } = await round([write('second.tf', 'resource "terraform_data" "second" {}\n'), done('Added.')])
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await remarksOf(session)).toEqual([])
})
