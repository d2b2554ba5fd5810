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
      'Also planned with `envs/staging.tfvars`, without its state: valid, 1 resource; `retention_days` = 7, before 14.',
      'Also planned with `prod.tfvars`, without its state: valid, 1 resource; `retention_days` = 35.',
      'Not planned with `environments/test/terraform.tfvars`: the session changes no variable that is set there, ' +
        'and what it added may get other values from it.',
      expect.stringMatching(/^The plan under review has the values that the engine reads by itself/),
    ]
    expect((await remarksOf(session)).sort()).toEqual(remarks)
    for (const chain of ['generate_engine_plan_report', 'report_compliance_findings'])
      for (const remark of remarks.slice(0, 3)) expect(said(llm.of(chain)[0])).toContain(remark)
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
        'Also planned with `prod.tfvars`, without its state: valid, 1 resource; `retention_days` = 34, before 35.',
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
    expect(remarks.find((line) => line.startsWith('Planned with `prod.tfvars`, without its state: fails: '))).toContain(
      'a number is required',
    )
  })
})

it('plans no other environment for a request that changes no variable', async () => {
  const { session } = await round([write('second.tf', 'resource "terraform_data" "second" {}\n'), done('Added.')])
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await remarksOf(session)).toEqual([])
})
