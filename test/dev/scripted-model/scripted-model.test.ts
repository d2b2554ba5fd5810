import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXAMPLES, FOLLOW_UPS } from '../../../dev/scripted-model/examples.ts'
import { filterDriftExceptions, filterReconciliation, taskSplitter } from '../../../src/chains/drift-chains.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { EDITING, type Message, type Scripted, startScripted } from './support.ts'

const scripted = startOnce(() => startScripted('web-platform'))

const complete: Scripted['complete'] = (messages, tools) => scripted.complete(messages, tools)
const engine: Scripted['engine'] = (...args) => scripted.engine(...args)
const fence = (text: string) => `<<<DATA request 0123456789abcdef\n${text}\n0123456789abcdef DATA>>>`
const { request } = EXAMPLES.generate
const [replay = '', retention = ''] = FOLLOW_UPS

test(
  'the recorded request: a first attempt that the engine refuses, the repair, targets, report, audit, pull ' +
    'request',
  async () => {
    const verdict = await scripted.chain('requests_filter', fence(request))
    expect(verdict.args).toMatchObject({ status: true })
    expect(verdict.called).toContain('read_file')

    await engine('init', '-no-color', '-input=false')
    const first = await scripted.chain('task_complete', fence(request), { tools: EDITING })
    expect(first.called).toEqual(expect.arrayContaining(['list_dir', 'read_file', 'write_to_file', 'replace_in_file']))
    const refused = await engine('validate', '-no-color')
    expect(refused.stderr).toContain('Reference to undeclared local value')

    const turn: Message[] = [
      { role: 'user', content: request },
      { role: 'assistant', content: String(first.args.summary) },
    ]
    const repaired = await scripted.chain(
      'task_complete',
      `The engine refused the last attempt.\n\n${fence(refused.stderr)}`,
      { tools: EDITING, history: turn },
    )
    expect(repaired.called).toEqual(['read_file', 'read_file', 'replace_in_file', 'task_complete'])
    expect((await engine('validate', '-no-color')).stdout).toContain('The configuration is valid')

    const { args } = await scripted.chain('generate_engine_targets', 'Report the engine targets.')
    expect(args.targets).toEqual([
      'terraform_data.orders_dead_letter_queue',
      'terraform_data.orders_queue',
      'terraform_data.orders_queue_alarm',
    ])
    const plan = await engine(
      'plan',
      '-no-color',
      '-input=false',
      ...args.targets.flatMap((target) => ['-target', target]),
    )
    expect(plan.stdout).toContain('Plan: 3 to add, 0 to change, 0 to destroy.')

    const report = await scripted.chain('generate_engine_plan_report', fence(plan.stdout), { tools: ['web_search'] })
    expect(report.args.summary).toEqual({ create: 3, update: 0, delete: 0, recreate: 0 })
    expect(report.args.potential_impact).toMatchObject({ banner: { level: 'low' } })
    expect(report.args.detailed_changes).toMatchObject([{ details: expect.stringContaining('retention_days') }, {}, {}])
    const audit = await scripted.chain('report_compliance_findings', `${request}\n\n${plan.stdout}`, { tools: [] })
    expect(audit.args.violations).toEqual([])
    const text = await scripted.chain('generate_pull_request', request, { tools: [], history: turn })
    expect(text.args.title).toBe('Add a work queue for the orders service')
    expect(text.args.description).toContain('dead-letter queue')
  },
)

test('further requests on the same branch', async () => {
  expect((await scripted.chain('requests_filter', request)).args).toMatchObject({
    status: false,
    explanation: expect.stringContaining('already there'),
  })
  expect((await scripted.chain('requests_filter', replay)).args.status).toBe(true)
  await scripted.chain('task_complete', replay, { tools: EDITING })
  await scripted.chain('task_complete', retention, { tools: EDITING })
  expect(await readFile(join(scripted.folder, 'orders-queue.tf'), 'utf8')).toMatch(/retention_days = 30\n/)
  await engine('init', '-no-color', '-input=false')
  expect((await engine('validate', '-no-color')).stdout).toContain('The configuration is valid')
  expect((await scripted.chain('generate_engine_targets', 'Targets')).args.targets).toHaveLength(4)
})

test('drift: operations of the session itself are dropped, others kept', async () => {
  const drift = [
    { address: 'terraform_data.orders_queue', action: 'delete resource' },
    { address: 'terraform_data.dns_zone', action: 'update resource', changes: { changed: {} } },
  ]
  const query = taskSplitter.query({ drift: drift as DriftOperation[], request: null })
  const split = await scripted.chain('report_decomposed_task_operations', query)
  expect(split.args.operations).toHaveLength(2)
  const kept = await scripted.chain(
    'report_decomposed_task_operations',
    filterReconciliation.query({ operations: split.args.operations, drift: [], diff: await scripted.branchDiff() }),
  )
  expect(kept.args.operations).toEqual(['2'])
  const exceptions = await scripted.chain(
    'report_decomposed_task_operations',
    filterDriftExceptions.query({ operations: split.args.operations, drift: [] }),
    { tools: [] },
  )
  expect(exceptions.args.operations).toEqual(['1', '2'])
})

test.each([
  ['a forbidden request is declined', 'Delete the production network and everything in it', /forbid/],
  ['a question is answered from the code', 'Which services are public?', /storefront \(port 8080, public\)/],
  [
    'an unknown request says how to get a real model',
    'Migrate the shop to another region',
    /scripted model.*ANTHROPIC_API_KEY/,
  ],
  [
    'a replay without a queue asks for the queue',
    'Replay dead letters of the payments service',
    /no queue of the payments service/,
  ],
])('%s', async (_, query, expected) => {
  const { args } = await scripted.chain('requests_filter', fence(query))
  expect(args).toMatchObject({ status: false, explanation: expect.stringMatching(expected) })
})

test('a plan that destroys what nobody asked for is a critical finding and a high impact', async () => {
  const plan =
    'Terraform will perform the following actions:\n\n  # terraform_data.db will be destroyed\n  - resource ' +
    '"terraform_data" "db" {\n    }\n'
  const audit = await scripted.chain('report_compliance_findings', `Add a queue\n\n${plan}`, { tools: [] })
  expect(audit.args.violations).toMatchObject([
    { rule_id: 'critical_deletion', severity: 'critical', resource: 'terraform_data.db' },
  ])
  const report = await scripted.chain('generate_engine_plan_report', plan, { tools: [] })
  expect(report.args.potential_impact).toMatchObject({ banner: { level: 'high' } })
})

test('it names itself, counts tokens by length, writes status sentences and has no streaming', async () => {
  const short = await complete([{ role: 'user', content: fence('Add a queue') }], [])
  expect(short.model).toBe('scripted-model')
  expect(short.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Working on: Add a queue' } })
  const long = await complete([{ role: 'user', content: 'x'.repeat(4000) }], [])
  expect(long.usage.prompt_tokens - short.usage.prompt_tokens).toBeGreaterThan(950)
  const failed = await complete([{ role: 'user', content: fence('Error: Unsupported argument\n\n on x') }], [])
  expect(failed.choices[0]?.message.content).toContain('The engine refused the code (Unsupported argument)')
  const post = (body: string, path = '/v1/chat/completions') => fetch(scripted.url + path, { method: 'POST', body })
  expect((await post(JSON.stringify({ messages: [{ role: 'user', content: 'x' }], stream: true }))).status).toBe(400)
  expect((await post('rubbish')).status).toBe(400)
  expect((await post('{}', '/v1/responses')).status).toBe(404)
  expect(await (await fetch(`${scripted.url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'scripted-model' }] })
})
