import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { taskSplitter } from '../../../src/chains/drift-chains.ts'
import { writeOperationsQuery } from '../../../src/chains/iac-generator.ts'
import { requestsFilter } from '../../../src/chains/requests-filter.ts'
import { driftTargets } from '../../../src/chains/target-generator.ts'
import type { FileDiff } from '../../../src/plan/code/compare.ts'
import type { DriftOperation } from '../../../src/plan/drift.ts'
import { driftReportQuery } from '../../chains/form.ts'
import { EDITING, type Scripted, startScripted } from './support.ts'

let scripted: Scripted
beforeEach(async () => {
  scripted = await startScripted('network-baseline')
})
afterEach(() => scripted.close())

const filterQuery = (request: string) => requestsFilter.query({ request, operation: 'drift' })
const filter = requestsFilter.system({ guideline: '', forbiddenActions: '' }, { request: '', operation: 'drift' })
const targetRules = driftTargets.system({ targetingPolicies: '' }, { request: '' })
const DRIFT: DriftOperation[] = [
  {
    address: 'terraform_data.flow_logs',
    action: 'update resource',
    changes: {
      changed: {
        'input.retention_days': { old_value: 90, new_value: 30 },
        'input.encrypted': { old_value: true, new_value: false },
      },
    },
  },
  {
    address: 'terraform_data.office_tunnel',
    action: 'update resource',
    changes: { changed: { 'input.encryption': { old_value: 'aes256-gcm', new_value: ['aes128-$', '{x}'].join('') } } },
  },
]
const split = (drift: readonly DriftOperation[]) =>
  scripted.chain('report_decomposed_task_operations', taskSplitter.query({ drift, request: null }))
const mend = (operations: string[]) =>
  scripted.chain('task_complete', writeOperationsQuery(operations), { tools: EDITING })
const read = (file: string) => readFile(join(scripted.folder, file), 'utf8')

test('a request about drift is accepted and names its targets', async () => {
  const { request } = EXAMPLES['partial-drift']
  const verdict = await scripted.chain('requests_filter', filterQuery(request), { system: filter })
  expect(verdict.args.status).toBe(true)
  const named = await scripted.chain('generate_engine_targets', driftTargets.query({ request }), {
    system: targetRules,
  })
  expect(named.args.targets).toEqual(['terraform_data.flow_logs'])
  const none = await scripted.chain(
    'generate_engine_targets',
    driftTargets.query({ request: 'Bring the database in line' }),
    { system: targetRules },
  )
  expect(none.args).toMatchObject({ targets: [], explanation: expect.stringContaining('Name the block') })
})

test('a request for something else is declined with what is recorded', async () => {
  const { args } = await scripted.chain('requests_filter', filterQuery('Add a queue for the orders service'), {
    system: filter,
  })
  expect(args.status).toBe(false)
  expect(args.explanation).toMatch(/scripted model.*samples\/network-baseline.*Bring the flow logs.*ANTHROPIC_API_KEY/)
})

test('the operations become the code, which the engine takes, and the report tells them', async () => {
  const { args } = await split(DRIFT)
  expect(args.operations).toHaveLength(2)
  const done = await mend(args.operations)
  expect(done.called).toContain('replace_in_file')
  expect(await read('logging.tf')).toMatch(/retention_days {3}= 30\n.*\n {4}encrypted {8}= false\n/)
  expect(await read('network.tf')).toContain('encryption           = "aes128-$${x}"')
  await scripted.engine('init', '-no-color', '-input=false')
  expect((await scripted.engine('validate', '-no-color')).stdout).toContain('The configuration is valid')

  const query = driftReportQuery({ diff: await scripted.branchDiff() })
  const report = await scripted.chain('generate_engine_drift_report', query)
  expect(report.args).toMatchObject({ status: 'Succeeded' })
  expect(report.args.remediated_resources).toMatchObject([
    {
      file_path: 'logging.tf',
      resource_address: 'terraform_data.flow_logs',
      changes: [
        { attribute_modified: 'input.retention_days', change_description: '90 became 30' },
        { attribute_modified: 'input.encrypted', change_description: 'true became false' },
      ],
    },
    { file_path: 'network.tf', resource_address: 'terraform_data.office_tunnel' },
  ])
  const history = [
    { role: 'user', content: args.operations.join('\n') },
    { role: 'assistant', content: String(done.args.summary) },
  ]
  const text = await scripted.chain('generate_pull_request', 'Bring everything in line', { history })
  expect(text.args.title).toBe('Bring the code of flow_logs, office_tunnel in line with the infrastructure')
  expect(text.args.description).toContain('input.retention_days from 90 to 30')
})

test('what it cannot write it leaves and says so', async () => {
  const before = await read('network.tf')
  const reference: DriftOperation = {
    address: 'terraform_data.network',
    action: 'update resource',
    changes: { changed: { 'input.name': { old_value: 'base-eu-central-1-network', new_value: 'renamed' } } },
  }
  const gone: DriftOperation = { address: 'terraform_data.firewall_https', action: 'delete resource' }
  const inside: DriftOperation = { address: 'module.x.terraform_data.y', action: 'update resource', changes: {} }
  for (const drift of [[reference], [gone], [inside]]) {
    const { args } = await mend((await split(drift)).args.operations)
    expect(args).toMatchObject({ status: 'not done', summary: expect.stringContaining(drift[0]?.address ?? '') })
  }
  expect(await read('network.tf')).toBe(before)
})

test('remaining drift is told', async () => {
  const report = async (diff: FileDiff[] = []) => {
    const query = driftReportQuery({ failure: 'one left', diff })
    return (await scripted.chain('generate_engine_drift_report', query)).args
  }
  expect(await report()).toMatchObject({ status: 'Failed', remediated_resources: [] })
  await writeFile(join(scripted.folder, 'logging.tf'), (await read('logging.tf')).replace('90', '30'))
  expect(await report(await scripted.branchDiff())).toMatchObject({ status: 'Partial' })
})
