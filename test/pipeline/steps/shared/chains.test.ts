import { describe, expect, it } from 'vitest'
import type { Kit } from '../../../../pipeline/kit/kit.ts'
import { runChain } from '../../../../pipeline/kit/run-chain.ts'
import { notFound } from '../../../../src/base/errors.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { requestsFilter } from '../../../../src/chains/requests-filter.ts'
import { driftTargets, sessionTargets } from '../../../../src/chains/target-generator.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { REPORT, review } from '../review.ts'
import { said } from '../scripted-llm.ts'
import { createSteps, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const objectsOf = (world: StepWorld, folder: string) =>
  [...world.objects].filter(([key]) => key.startsWith(folder)).map(([, { body }]) => JSON.parse(body))
const secretPlan = async (world: StepWorld) => {
  const valid = validPlan(world, [
    { address: 'a.b', actions: ['create'], after: { pw: 'topsecret-1' }, after_sensitive: { pw: true } },
    { address: 'aws_db_instance.main', type: 'aws_db_instance', actions: ['delete'] },
  ])
  await world.kit.secrets.learn(valid.plan)
  return valid
}

const filterRequest = (kit: Kit) =>
  runChain(kit, requestsFilter, { request: kit.run.round.query, operation: 'generate' })

describe('the requests filter', () => {
  it('asks the small model with the rules, the conversation and inspection tools', async () => {
    const { kit, llm, run } = await steps.world({
      scripts: { requests_filter: { args: { status: true, explanation: 'fine' } } },
    })
    const turn = { user: 'before', assistant: 'earlier' }
    for (const turns of [run.round.history, run.conversation]) turns.push(turn)
    expect(await filterRequest(kit)).toEqual({ accepted: true, explanation: 'fine' })
    const [request] = llm.of('requests_filter')
    expect(request?.role).toBe('small')
    const looking = ['read_file', 'list_dir', 'bulk_grep_search', 'diff_history']
    expect(request?.tools?.map(({ name }) => name)).toEqual([...looking, 'requests_filter'])
    const rules = ['body of general-guidelines-requests', 'body of aws-guidelines-forbidden_actions']
    for (const part of [...rules, 'before', 'Add a bucket']) expect(said(request)).toContain(part)
    expect(request?.messages[1]?.content).toMatch(/^<<<DATA earlier request (\w+)\nbefore\n\1 DATA>>>$/)
    expect(request?.messages[2]?.content).toBe('earlier')
  })

  it('answers the explanation of a declined request word for word', async () => {
    const explanation = 'No "public" buckets.'
    const { kit } = await steps.world({ scripts: { requests_filter: { args: { status: false, explanation } } } })
    expect(await filterRequest(kit)).toEqual({ accepted: false, explanation })
  })

  it('fails with the name of a prompt that is missing', async () => {
    const prompts = { body: async (name: string) => Promise.reject(notFound(`Prompt not found: ${name}`)) }
    const { kit } = await steps.world({ context: { prompts } })
    await expect(filterRequest(kit)).rejects.toThrow('Prompt not found: general-guidelines-requests')
  })
})

const addresses = (number: number) => Array.from({ length: number }, (_, index) => `a.b${index}`)

describe('the target generator of a session', () => {
  it.each([
    ['addresses without repeats', ['a.b', 'a.b', 'c.d'], ['a.b', 'c.d']],
    ['none for the whole root', [], []],
    ['none instead of 257', addresses(257), []],
  ])('answers %s', async (_, targets, expected) => {
    const { kit, llm } = await steps.world({
      scripts: { generate_engine_targets: { args: { targets, explanation: '' } } },
    })
    expect(await runChain(kit, sessionTargets, { diff: '', earlier: null })).toEqual(expected)
    expect(llm.of('generate_engine_targets')[0]?.role).toBe('main')
  })
})

const REPORTED = {
  summary: { create: 7, update: 7, delete: 7, recreate: 7 },
  detailed_changes: [{ name: 'a.b', action: 'delete', summary: 'With topsecret-1.' }],
  potential_impact: { banner: { level: 'low', title: 'Impact', description: 'As told.' } },
  estimated_costs: {},
}

describe('the report of a review', () => {
  it('stores what the plan says, narrated by the main model, and raises the banner', async () => {
    const world = await steps.world({ scripts: { generate_engine_plan_report: { args: REPORTED } } })
    const { report } = await review(world, await secretPlan(world))
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
    const world = await steps.world({ scripts: { generate_engine_plan_report: { args: REPORTED } } })
    await review(world, { ...validPlan(world, []), text: `HEAD${'x'.repeat(1_000_000)}TAIL` })
    const text = said(world.llm.of('generate_engine_plan_report')[0])
    expect(text.length).toBeLessThan(420_000)
    expect(text).toContain('HEADx')
    expect(text).toContain('xTAIL')
    expect(text).toContain('characters left out')
  })
})

describe('the audit of a review', () => {
  const conventions = { templates: ['TEMPLATE BODY of `aws_db_instance`', 'another of `aws_vpc`'] }
  const finding = { rule_id: 'scope_exceeded', resource: 'a.b', message: 'topsecret-1 shown' }
  const audit = async (severities: string[], passed?: boolean) => {
    const violations = severities.map((severity) => ({ ...finding, severity }))
    const args = { passed, violations, summary: 'Audited.', checked_rules: ['scope_exceeded'] }
    const world = await steps.world({
      orchestration: { enable_compliance_checker: true },
      scripts: { generate_engine_plan_report: { args: REPORT }, report_compliance_findings: { args } },
    })
    return { world, document: (await review(world, await secretPlan(world), { conventions })).compliance }
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
    const rows = await steps.database.sql`SELECT passed FROM compliance_checks WHERE round_id = ${world.run.round.id}`
    expect(rows).toEqual([{ passed }])
    expect(JSON.stringify([document, world.llm.requests])).not.toContain('topsecret-1')
  })

  it('shows the small model what was asked, and of the rule book what the plan is about', async () => {
    const { world } = await audit([])
    const [request] = world.llm.of('report_compliance_findings')
    expect(request?.role).toBe('small')
    expect(request?.tools?.map(({ name }) => name)).toEqual(['report_compliance_findings'])
    const rules = ['body of general-compliance-report', 'body of aws-guidelines-forbidden_actions']
    for (const part of ['Add a bucket', 'plan text', 'TEMPLATE BODY', ...rules]) expect(said(request)).toContain(part)
    expect(said(request)).not.toContain('another of')
  })

  it('passes without a call and without a row when it is switched off', async () => {
    const world = await steps.world({
      orchestration: { enable_compliance_checker: false },
      scripts: { generate_engine_plan_report: { args: REPORT } },
    })
    const { compliance } = await review(world, validPlan(world, []), { conventions })
    expect(compliance).toEqual({ passed: true, violations: [], summary: '', checked_rules: [] })
    expect(world.llm.of('report_compliance_findings')).toEqual([])
    expect(objectsOf(world, 'compliance/')).toEqual([])
  })
})

describe('the target generator of a request about drift', () => {
  it.each([
    ['addresses without repeats', ['a.b', 'c.d', 'a.b'], { fits: true, targets: ['a.b', 'c.d'] }],
    ['256 addresses', addresses(256), { fits: true, targets: addresses(256) }],
    ['the whole root instead of 257', addresses(257), { fits: true, targets: [] }],
    ['the explanation when nothing fits, without secrets', [], { fits: false, explanation: 'Not (sensitive value).' }],
  ])('answers %s', async (_, targets, expected) => {
    const { kit, llm } = await steps.world({
      scripts: { generate_engine_targets: { args: { targets, explanation: 'Not topsecret-1.' } } },
      query: 'Check the buckets',
    })
    kit.secrets.add(['topsecret-1'])
    kit.run.conversation.push({ user: 'before', assistant: 'earlier' })
    expect(await runChain(kit, driftTargets, { request: kit.run.round.query })).toEqual(expected)
    const [request] = llm.of('generate_engine_targets')
    expect(request?.role).toBe('main')
    for (const part of ['body of general-guidelines-targeting_policies', 'Check the buckets', 'before', 'earlier'])
      expect(said(request)).toContain(part)
  })

  it.each([
    ['\n Not one bucket. ', 'Not one bucket.'],
    [' \n', 'Nothing in the code fits this request, so no drift was looked for.'],
  ])('answers the explanation %j as %j', async (explanation, shown) => {
    const { kit } = await steps.world({ scripts: { generate_engine_targets: { args: { targets: [], explanation } } } })
    const answer = await runChain(kit, driftTargets, { request: kit.run.round.query })
    expect(answer).toEqual({ fits: false, explanation: shown })
  })
})
