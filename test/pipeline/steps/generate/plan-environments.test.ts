import { describe, expect, it } from 'vitest'
import {
  createEnvironmentsCheck,
  type EnvironmentResult,
} from '../../../../pipeline/steps/generate/plan-environments.ts'
import { generateAndValidate } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import type { Validation } from '../../../../pipeline/steps/generator/validation.ts'
import type { ValidPlan } from '../../../../pipeline/steps/plan/plan.ts'
import { createCheckedValidator } from '../../../../pipeline/steps/plan/validators.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { loadAggregate } from '../../../../src/sessions/aggregate.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { readBlocks } from '../../../prompts/blocks.ts'
import { publicBucket as bucket, REPORT, review } from '../review.ts'
import { createSteps, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const ENVIRONMENT = { path: 'prod.tfvars', text: '', names: [], before: new Map() }

/** Runs attempts with this verdict of the validator, and counts how often the environments were requested. */
async function attempts(count: number, verdict: EnvironmentResult['verdict'], maxAttempts = 5, valid = true) {
  const world = await steps.world()
  let asked = 0
  const result: EnvironmentResult = { environment: ENVIRONMENT, verdict, facts: 'odd', output: 'Error: odd' }
  const plan: Validation<ValidPlan> = valid
    ? { ok: true, text: 't', targets: ['a.b'], value: validPlan(world, []) }
    : { ok: false, text: 't', targets: ['a.b'], feedback: 'own' }
  const results = async () => {
    asked++
    return [result]
  }
  const check = { results, notes: async () => [] }
  const validate = createCheckedValidator(world.kit, { validate: async () => plan, maxAttempts }, [
    createEnvironmentsCheck(check),
  ])
  const answers: Validation<ValidPlan>[] = []
  for (let index = 0; index < count; index++) answers.push(await validate())
  return { answers, asked }
}

describe('createEnvironmentsCheck', () => {
  it('sends a plan back once that breaks an environment, as data and good enough', async () => {
    const { answers } = await attempts(2, 'broken')
    expect(answers.map(({ ok }) => ok)).toEqual([false, true])
    const [first] = answers
    if (!first || first.ok) throw new Error('the first attempt is accepted')
    expect(first).toMatchObject({ targets: ['a.b'], feedback: 'With prod.tfvars:\nError: odd' })
    const query = first.goodEnough?.query ?? ''
    expect(readBlocks(query).map(({ content }) => content.trim())).toEqual([first.feedback])
    expect(await first.goodEnough?.validateAgain()).toMatchObject({ ok: true, targets: ['a.b'] })
  })

  it.each(['valid', 'failing', 'unknown'] as const)('accepts an environment that is %s', async (verdict) => {
    expect((await attempts(1, verdict)).answers[0]?.ok).toBe(true)
  })

  it('accepts the last attempt, with its verdict', async () => {
    const { answers } = await attempts(1, 'broken', 1)
    expect(answers).toMatchObject([{ ok: true, verdicts: new Map([['valid with prod.tfvars', false]]) }])
  })

  it('passes a failure of the plan itself on', async () => {
    expect(await attempts(1, 'broken', 5, false)).toMatchObject({ answers: [{ feedback: 'own' }], asked: 0 })
  })
})

const open = (options: Parameters<typeof steps.world>[0] = {}) =>
  steps.world({
    ...options,
    scripts: { task_complete: { args: { status: 'done', summary: 'Written.' } }, ...options.scripts },
  })

async function generate(world: StepWorld, validate: () => Promise<Validation<ValidPlan>>) {
  const conventions = { templates: [], abbreviations: [] }
  const task = { query: 'q', prompt: 'p', operation: 'generate', conventions, forbid: false, maxAttempts: 3 } as const
  await generateAndValidate(world.kit, { ...task, validate })
}

async function attemptsOf({ run }: StepWorld) {
  const session = await loadAggregate(run.context, run.round.session.uuid, { includeHistory: true })
  return session?.rounds[0]?.attempts
}

it('names the environment that an attempt has broken', async () => {
  const world = await open()
  world.kit.secrets.add(['topsecret-17'])
  const output = 'Error: odd topsecret-17'
  const broken = { environment: ENVIRONMENT, verdict: 'broken' as const, facts: 'it is odd', output }
  const check = { results: async () => [broken], notes: async () => [] }
  const valid = { ok: true as const, text: '', targets: [], value: validPlan(world, []) }
  await generate(
    world,
    createCheckedValidator(world.kit, { validate: async () => valid, maxAttempts: 3 }, [
      createEnvironmentsCheck(check),
    ]),
  )
  const summary = 'The code fails with the values of prod.tfvars: it is odd'
  const found = { step: 'check', file: 'prod.tfvars', summary, detail: `Error: odd ${MASK}` }
  const next_reason = `The plan is not what was asked for. ${summary} (prod.tfvars).`
  expect(await attemptsOf(world)).toMatchObject([
    { outcome: 'refused', diagnostics: [found], next_reason },
    { outcome: 'accepted', diagnostics: [] },
  ])
})

it('adds what the rules find to the attempt whose plan is reviewed, limited and masked', async () => {
  const findings = { args: { violations: [], summary: 's', checked_rules: [] } }
  const world = await open({
    orchestration: { enable_compliance_checker: true },
    scripts: { generate_engine_plan_report: { args: REPORT }, report_compliance_findings: findings },
  })
  world.kit.secrets.add(['topsecret-17'])
  const many = Array.from({ length: 30 }, (_, index) => bucket(`aws_s3_bucket_acl.b[${index}]`))
  const value = validPlan(world, [bucket('aws_s3_bucket_acl.a["topsecret-17"]'), ...many])
  await generate(world, async () => ({ ok: true, text: '', targets: [], value }))
  await review(world, value)
  const attempts = await attemptsOf(world)
  expect(attempts).toMatchObject([{ outcome: 'accepted', diagnostics_total: 31 }])
  expect(attempts?.[0]?.diagnostics).toHaveLength(20)
  expect(attempts?.[0]?.diagnostics[0]).toMatchObject({
    severity: 'error',
    step: 'check',
    rule: 'aws.storage.public-bucket-acl',
    address: `aws_s3_bucket_acl.a["${MASK}"]`,
  })
  expect(JSON.stringify(attempts)).not.toContain('topsecret-17')
})
