import { expect, it } from 'vitest'
import { createEnvironmentValidator } from '../../../../pipeline/steps/generate/plan-environments.ts'
import { generateAndValidate, type Validation } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import type { ValidPlan } from '../../../../pipeline/steps/plan/plan.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { loadAggregate } from '../../../../src/sessions/aggregate.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { REPORT, review } from '../review.ts'
import { createSteps, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

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
  const environment = { path: 'prod.tfvars', text: '', names: [], before: new Map() }
  const broken = { environment, verdict: 'broken' as const, facts: 'it is odd', output: 'Error: odd topsecret-17' }
  const check = { results: async () => [broken], notes: async () => [] }
  const valid = { ok: true as const, text: '', targets: [], value: validPlan(world, []) }
  await generate(world, createEnvironmentValidator(world.kit, check, { validate: async () => valid, maxAttempts: 3 }))
  expect(await attemptsOf(world)).toMatchObject([
    {
      outcome: 'refused',
      diagnostics: [
        {
          step: 'check',
          file: 'prod.tfvars',
          summary: 'The code fails with the values of prod.tfvars: it is odd',
          detail: `Error: odd ${MASK}`,
        },
      ],
      next_reason:
        'The plan is not what was asked for: The code fails with the values of prod.tfvars: it is odd (prod.tfvars).',
    },
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
  const bucket = (address: string) => ({
    address,
    type: 'aws_s3_bucket_acl',
    actions: ['create'],
    after: { acl: 'public-read' },
  })
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
