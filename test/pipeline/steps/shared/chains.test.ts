import { describe, expect, it } from 'vitest'
import type { Kit } from '../../../../pipeline/kit/kit.ts'
import { runChain } from '../../../../pipeline/kit/run-chain.ts'
import { auditCompliance } from '../../../../pipeline/steps/generate/audit-compliance.ts'
import { writeGenerateReport } from '../../../../pipeline/steps/generate/write-generate-report.ts'
import { composePrompts } from '../../../../pipeline/steps/shared/compose-prompts.ts'
import { notFound } from '../../../../src/base/errors.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { requestsFilter } from '../../../../src/chains/requests-filter.ts'
import { sessionTargets } from '../../../../src/chains/target-generator.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { said } from '../scripted-llm.ts'
import { createSteps, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const objectsOf = (world: StepWorld, folder: string) =>
  [...world.objects].filter(([key]) => key.startsWith(folder)).map(([, { body }]) => JSON.parse(body))
const secretPlan = (world: StepWorld) => {
  const valid = validPlan(world, [
    { address: 'a.b', actions: ['create'], after: { pw: 'topsecret-1' }, after_sensitive: { pw: true } },
    { address: 'aws_db_instance.main', type: 'aws_db_instance', actions: ['delete'] },
  ])
  world.kit.secrets.learn(valid.plan)
  return valid
}

const filterRequest = (kit: Kit) =>
  runChain(kit, requestsFilter, { request: kit.run.round.query, operation: 'generate' })

describe('the requests filter', () => {
  it('asks the small model with the rules, the conversation and inspection tools', async () => {
    const { kit, llm, run } = await steps.world({
      scripts: { requests_filter: { args: { status: true, explanation: 'fine' } } },
    })
    run.conversation.push({ user: 'before', assistant: 'earlier' })
    expect(await filterRequest(kit)).toEqual({ accepted: true })
    const [request] = llm.of('requests_filter')
    expect(request?.role).toBe('small')
    expect(request?.tools?.map(({ name }) => name)).toEqual([
      'read_file',
      'list_dir',
      'bulk_grep_search',
      'diff_history',
      'requests_filter',
    ])
    for (const part of [
      'body of general-guidelines-requests',
      'body of aws-guidelines-forbidden_actions',
      'before',
      'Add a bucket',
    ])
      expect(said(request)).toContain(part)
    expect(request?.messages[1]?.content).toMatch(/^<<<DATA earlier request (\w+)\nbefore\n\1 DATA>>>$/)
    expect(request?.messages[2]?.content).toBe('earlier')
  })

  it('answers the explanation of a declined request word for word', async () => {
    const { kit } = await steps.world({
      scripts: { requests_filter: { args: { status: false, explanation: 'No "public" buckets.' } } },
    })
    expect(await filterRequest(kit)).toEqual({ accepted: false, explanation: 'No "public" buckets.' })
  })

  it('fails with the name of a prompt that is missing', async () => {
    const prompts = { body: async (name: string) => Promise.reject(notFound(`Prompt not found: ${name}`)) }
    const { kit } = await steps.world({ context: { prompts } })
    await expect(filterRequest(kit)).rejects.toThrow('Prompt not found: general-guidelines-requests')
  })
})

describe('composePrompts', () => {
  it('fails with the name of a prompt that the catalogue lists and nobody has', async () => {
    const prompts = {
      body: async (name: string) => {
        if (name === 'aws-guidelines-resources_list') return '- `s3_bucket`: object storage\n- `sqs_queue`: queues'
        if (name === 'aws-resources-sqs_queue') throw notFound(`Prompt not found: ${name}`)
        return `body of ${name}`
      },
    }
    const { kit } = await steps.world({
      context: { prompts },
      scripts: { construct_information: { args: { templates: ['s3_bucket', 'sqs_queue'], abbreviations: [] } } },
    })
    await expect(composePrompts(kit)).rejects.toThrow('Prompt not found: aws-resources-sqs_queue')
  })

  it('makes two passes and drops names that do not exist', async () => {
    const prompts = {
      body: async (name: string) => {
        if (name === 'aws-resources-imagined') throw notFound(`Prompt not found: ${name}`)
        return `body of ${name}`
      },
    }
    const { kit, llm } = await steps.world({
      context: { prompts },
      scripts: {
        construct_information: [
          { args: { templates: ['s3_bucket', 'imagined'], abbreviations: ['bucket: bkt'] } },
          { args: { templates: ['aws-resources-iam_role', 's3_bucket'], abbreviations: ['bucket: bkt', 'role: rl'] } },
        ],
      },
    })
    expect(await composePrompts(kit)).toEqual({
      templates: ['body of aws-resources-s3_bucket', 'body of aws-resources-iam_role'],
      abbreviations: ['bucket: bkt', 'role: rl'],
    })
    const [first, second] = llm.of('construct_information')
    expect(first?.tools?.map(({ name }) => name)).toEqual(['construct_information'])
    expect(said(first)).toContain('body of aws-guidelines-resources_list')
    expect(said(first)).not.toContain('imagined')
    expect(said(second)).toContain('imagined')
  })

  it('passes an outage of the prompts on', async () => {
    const prompts = {
      body: async (name: string) =>
        name.includes('-resources-') ? Promise.reject(new Error('registry down')) : 'body',
    }
    const { kit } = await steps.world({
      context: { prompts },
      scripts: { construct_information: { args: { templates: ['s3_bucket'], abbreviations: [] } } },
    })
    await expect(composePrompts(kit)).rejects.toThrow('registry down')
  })
})

describe('the target generator of a session', () => {
  it.each([
    ['addresses without repeats', ['a.b', 'a.b', 'c.d'], ['a.b', 'c.d']],
    ['none for the whole root', [], []],
    [
      '256 addresses',
      Array.from({ length: 256 }, (_, index) => `a.b${index}`),
      Array.from({ length: 256 }, (_, index) => `a.b${index}`),
    ],
    ['none instead of 257', Array.from({ length: 257 }, (_, index) => `a.b${index}`), []],
  ])('answers %s', async (_, targets, expected) => {
    const { kit, llm } = await steps.world({
      scripts: { generate_engine_targets: { args: { targets, explanation: '' } } },
    })
    expect(await runChain(kit, sessionTargets, {})).toEqual(expected)
    expect(llm.of('generate_engine_targets')[0]?.role).toBe('main')
  })

  it('lets the model try again after a target that would be an option', async () => {
    const { kit, llm } = await steps.world({
      scripts: { generate_engine_targets: [{ args: { targets: ['-destroy'] } }, { args: { targets: ['a.b'] } }] },
    })
    expect(await runChain(kit, sessionTargets, {})).toEqual(['a.b'])
    expect(said(llm.of('generate_engine_targets')[1])).toContain('must not begin with -')
  })
})

const banner = (level: string) => ({ banner: { level, title: 'Impact', description: 'As told.' } })
const reportArgs = (level = 'low') => ({
  summary: { create: 7, update: 7, delete: 7, recreate: 7 },
  detailed_changes: [{ name: 'a.b', action: 'delete', summary: 'With topsecret-1.' }],
  potential_impact: banner(level),
  estimated_costs: {},
})

describe('writeGenerateReport', () => {
  it('stores what the plan says, narrated by the main model, and raises the banner', async () => {
    const world = await steps.world({ scripts: { generate_engine_plan_report: { args: reportArgs() } } })
    const report = await writeGenerateReport(world.kit, secretPlan(world))
    await world.kit.status.settle()
    expect(report.summary).toEqual({ create: 1, update: 0, delete: 1, recreate: 0 })
    expect(report.detailed_changes).toMatchObject([
      { name: 'a.b', action: 'create', summary: `With ${MASK}.` },
      { name: 'aws_db_instance.main', action: 'delete' },
    ])
    expect(report.potential_impact.banner.level).toBe('high')
    expect(objectsOf(world, 'reports/generate-')).toEqual([report])
    expect((await world.statuses()).map(([status]) => status)).toEqual(['report'])
    const [request] = world.llm.of('generate_engine_plan_report')
    expect(request?.role).toBe('main')
    expect(said(request)).toContain('body of general-compliance-impact')
    expect(said(request)).toContain('delete aws_db_instance.main (holds data)')
  })

  it('cuts a plan of a million characters in the middle', async () => {
    const world = await steps.world({ scripts: { generate_engine_plan_report: { args: reportArgs() } } })
    await writeGenerateReport(world.kit, { ...validPlan(world, []), text: `HEAD${'x'.repeat(1_000_000)}TAIL` })
    const text = said(world.llm.of('generate_engine_plan_report')[0])
    expect(text.length).toBeLessThan(420_000)
    expect(text).toContain('HEADx')
    expect(text).toContain('xTAIL')
    expect(text).toContain('characters left out')
  })

  it('lets the model mend a report that does not fit', async () => {
    const world = await steps.world({
      scripts: { generate_engine_plan_report: [{ args: { summary: {} } }, { args: reportArgs('medium') }] },
    })
    const report = await writeGenerateReport(world.kit, validPlan(world, []))
    expect(report.potential_impact.banner.level).toBe('medium')
  })
})

describe('auditCompliance', () => {
  const conventions = { templates: ['TEMPLATE BODY'], abbreviations: [] }
  const finding = (severity: string) => ({
    rule_id: 'scope_exceeded',
    severity,
    resource: 'a.b',
    message: 'topsecret-1 shown',
  })
  const audit = async (severities: string[], passed?: boolean) => {
    const world = await steps.world({
      orchestration: { enable_compliance_checker: true },
      scripts: {
        report_compliance_findings: {
          args: { passed, violations: severities.map(finding), summary: 'Audited.', checked_rules: ['scope_exceeded'] },
        },
      },
    })
    return { world, document: await auditCompliance(world.kit, secretPlan(world), conventions) }
  }

  it.each([
    [[], true],
    [['info', 'warning'], true],
    [['warning', 'error'], false],
    [['critical'], false],
  ])('findings %j: passed %s, whatever the model claims', async (severities, passed) => {
    const { world, document } = await audit(severities, !passed)
    expect(document.passed).toBe(passed)
    expect(objectsOf(world, 'compliance/check-')).toEqual([document])
    const rows = await steps.database.sql<
      { passed: boolean }[]
    >`SELECT passed FROM compliance_checks WHERE round_id = ${world.run.round.id}`
    expect(rows).toEqual([{ passed }])
    expect(JSON.stringify([document, world.llm.requests])).not.toContain('topsecret-1')
  })

  it('shows the small model the first request of the session and the whole rule book', async () => {
    const { world } = await audit([])
    const [request] = world.llm.of('report_compliance_findings')
    expect(request?.role).toBe('small')
    expect(request?.tools?.map(({ name }) => name)).toEqual(['report_compliance_findings'])
    for (const part of [
      'Add a bucket',
      'plan text',
      'TEMPLATE BODY',
      'body of general-compliance-report',
      'body of aws-guidelines-forbidden_actions',
    ])
      expect(said(request)).toContain(part)
  })

  it('passes without a call and without a row when it is switched off', async () => {
    const world = await steps.world({ orchestration: { enable_compliance_checker: false } })
    expect(await auditCompliance(world.kit, validPlan(world, []), conventions)).toEqual({
      passed: true,
      violations: [],
      summary: '',
      checked_rules: [],
    })
    expect(world.llm.requests).toEqual([])
    expect(world.objects.size).toBe(0)
  })
})
