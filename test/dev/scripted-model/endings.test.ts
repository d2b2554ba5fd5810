import { afterEach, expect, test } from 'vitest'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { filterReconciliation } from '../../../src/chains/drift-chains.ts'
import { writeFeedbackQuery, writeTaskQuery } from '../../../src/chains/iac-generator.ts'
import { applyReportWriter, generateReportWriter } from '../../../src/chains/report-writers.ts'
import { requestsFilter } from '../../../src/chains/requests-filter.ts'
import { background } from '../../pipeline/steps/review.ts'
import { EDITING, type Scripted, startScripted } from './support.ts'

let scripted: Scripted
afterEach(() => scripted.close())

const start = async (sample: string, iac_path?: string) => {
  scripted = await startScripted(sample, iac_path)
}
const ask = async (request: string) =>
  (await scripted.chain('requests_filter', requestsFilter.query({ request, operation: 'generate' }))).args
const write = (query: string) => scripted.chain('task_complete', query, { tools: EDITING })

test('a question is answered by counting blocks', async () => {
  await start(EXAMPLES.question.sample)
  expect(await ask(EXAMPLES.question.request)).toMatchObject({
    status: false,
    explanation: expect.stringContaining(
      'describes 2 queues: terraform_data.mail_queue and terraform_data.mail_dead_letter_queue',
    ),
  })
  expect(await ask('How many buckets are there?')).toMatchObject({
    status: false,
    explanation: expect.stringContaining('no buckets'),
  })
})

test('a question that asks for work is work', async () => {
  await start('web-platform')
  expect(await ask('Can you add a queue for the payments service?')).toMatchObject({ status: true })
})

test('a request that destroys data is carried out and graded high', async () => {
  const { sample, iac_path, request } = EXAMPLES.blocked
  await start(sample, iac_path ?? undefined)
  await scripted.engine('init', '-no-color', '-input=false')
  await scripted.engine('apply', '-no-color', '-input=false', '-auto-approve')
  expect((await ask(request)).status).toBe(true)
  await write(writeTaskQuery(request))
  expect((await scripted.chain('generate_engine_targets', 'Targets')).args.targets).toEqual([])
  const plan = await scripted.engine('plan', '-no-color', '-input=false')
  expect(plan.stdout).toContain('Plan: 0 to add, 0 to change, 1 to destroy.')
  // The destruction is the session's own work and no drift.
  const undo = ['module.dataset["clicks"].terraform_data.dataset: create resource with {}']
  const own = await scripted.chain(
    'report_decomposed_task_operations',
    filterReconciliation.query({ operations: undo, drift: [], diff: await scripted.branchDiff() }),
  )
  expect(own.args.operations).toEqual([])
  const report = await scripted.chain(
    'generate_engine_plan_report',
    generateReportWriter.query({ ...background(), plan: plan.stdout }),
  )
  expect(report.args).toMatchObject({ summary: { delete: 1 }, potential_impact: { banner: { level: 'high' } } })
  expect(await ask('Remove the payroll dataset')).toMatchObject({
    status: false,
    explanation: expect.stringContaining('no dataset payroll'),
  })
})

test('the recording that never gets it right is refused again and again', async () => {
  const { sample, request } = EXAMPLES.exhausted
  await start(sample)
  await scripted.engine('init', '-no-color', '-input=false')
  expect((await ask(request)).status).toBe(true)
  let query = writeTaskQuery(request)
  const refusals = new Set<string>()
  for (let attempt = 1; attempt <= 5; attempt++) {
    await write(query)
    const { stderr } = await scripted.engine('validate', '-no-color')
    refusals.add(/with the name\s+"(\w+)"/.exec(stderr)?.[1] ?? '')
    query = writeFeedbackQuery(stderr)
  }
  expect(refusals).toEqual(new Set(['second_region', 'secondary_region', 'region_b', 'mirror_region', 'other_region']))
})

test('the report of an apply is read from the output of the engine', async () => {
  await start('network-baseline')
  const report = async (output: string) =>
    (await scripted.chain('generate_engine_apply_report', applyReportWriter.query({ output, request: 'Add a queue.' })))
      .args
  await scripted.engine('init', '-no-color', '-input=false')
  const { stdout } = await scripted.engine('apply', '-no-color', '-input=false', '-auto-approve')
  expect(await report(stdout)).toMatchObject({ status: 'Success', summary: { created: 7, updated: 0, destroyed: 0 } })
  const created = stdout.split('\n').find((line) => line.includes('Creation complete'))
  const broken = `${created}\n╷\n│ Error: quota exceeded\n╵`
  expect(await report(broken)).toMatchObject({
    status: 'Partial',
    summary: { failed: 1 },
    execution_summary: expect.stringContaining('quota exceeded'),
  })
  expect(await report('Error: no credentials')).toMatchObject({ status: 'Failed' })
})
