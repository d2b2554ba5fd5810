import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { iacGenerator, writeFeedbackQuery, writeImportQuery } from '../../../src/chains/iac-generator.ts'
import { importAddresses, importFilter } from '../../../src/chains/import-chains.ts'
import { requestsFilter } from '../../../src/chains/requests-filter.ts'
import { fence } from '../../../src/prompts/layout.ts'
import { EDITING, type Scripted, startScripted } from './support.ts'

let scripted: Scripted
beforeEach(async () => {
  scripted = await startScripted('legacy-accounts')
})
afterEach(() => scripted.close())

const arn = (service: string, name: string) => `arn:aws:${service}:eu-central-1:123456789012:${name}`
const INVOICES = arn('sqs', 'invoices-incoming')
const DEAD = arn('sqs', 'invoices-dead-letter')
const TABLE = arn('dynamodb', 'table/invoices')
const KNOWN = [INVOICES, DEAD, TABLE, arn('lambda', 'function:send-reminders')]

const requestQuery = (request: string) => requestsFilter.query({ request, operation: 'import' })
const select = async (request: string) => {
  const values = { cloud: 'aws', request, unmanagedIds: KNOWN, templates: [], abbreviations: [] } as const
  const answer = await scripted.chain('report_decomposed_task_operations', requestQuery(request), {
    tools: [],
    system: importFilter.system({}, values),
  })
  return answer.args
}
const rules = () =>
  iacGenerator.system(
    { engine: '', resourceCreation: '', networking: '', permissions: '', forbiddenActions: '' },
    {
      operation: 'import',
      forbid: false,
      templates: [],
      abbreviations: [],
      task: '',
      repository: null,
      providerSchema: null,
    },
  )

const write = (query: string, ids: string[]) =>
  scripted.chain('task_complete', query, {
    tools: EDITING,
    system: rules(),
    history: [
      { role: 'user', content: writeImportQuery(ids) },
      { role: 'assistant', content: 'Done.' },
    ],
  })

test('a request to import is accepted, another one declined', async () => {
  const system = requestsFilter.system({ guideline: '', forbiddenActions: '' }, { request: '', operation: 'import' })
  const ask = (request: string) => scripted.chain('requests_filter', requestQuery(request), { system })
  expect((await ask(EXAMPLES['partial-import'].request)).args.status).toBe(true)
  expect((await ask('Make the queues bigger')).args).toMatchObject({
    status: false,
    explanation: expect.stringMatching(/scripted model.*samples\/legacy-accounts.*Import all the infrastructure/),
  })
})

test.each([
  ['kind and name', EXAMPLES['partial-import'].request, [INVOICES, DEAD]],
  ['a name alone', 'Import what belongs to invoices', [INVOICES, DEAD, TABLE]],
  ['a kind alone', 'Take over the tables', [TABLE]],
  ['neither', 'Import the payroll cluster', []],
  ['a kind that the named ones are not of', 'Import the invoices buckets', []],
])('selects by %s', async (_, request, expected) => {
  const { operations, explanation } = await select(request)
  expect(operations).toEqual(expected)
  expect(explanation).not.toBe('')
})

test('blocks are written, mended after the refusal of the engine, and matched with the identifiers', async () => {
  const ids = [INVOICES, DEAD]
  await write(writeImportQuery(ids), ids)
  await scripted.engine('init', '-no-color', '-input=false')
  const refused = await scripted.engine('validate', '-no-color')
  expect(refused.stderr).toContain('An argument named "arn" is not expected here')
  await write(writeFeedbackQuery(refused.stderr), ids)
  expect((await scripted.engine('validate', '-no-color')).stdout).toContain('The configuration is valid')
  expect(await readFile(join(scripted.folder, 'imported.tf'), 'utf8')).not.toContain('arn =')

  const matching = { pendingIds: [DEAD, INVOICES, TABLE], addresses: [], diff: await scripted.branchDiff() }
  const addresses = await scripted.chain('import_addresses', importAddresses.query(matching), {
    system: importAddresses.system({}, matching),
  })
  expect(addresses.args).toMatchObject({
    status: 'partly done',
    imports: [
      { address: 'terraform_data.sqs_invoices_dead_letter', resource_id: DEAD },
      { address: 'terraform_data.sqs_invoices_incoming', resource_id: INVOICES },
    ],
  })
  for (const { address, resource_id } of addresses.args.imports)
    expect((await scripted.engine('import', '-no-color', '-input=false', address, resource_id)).stdout).toContain(
      'Import successful!',
    )
  const targets = await scripted.chain('generate_engine_targets', 'Targets')
  expect(targets.args.targets).toHaveLength(2)
  const plan = await scripted.engine(
    'plan',
    '-no-color',
    ...targets.args.targets.flatMap((target) => ['-target', target]),
  )
  expect(plan.stdout).toContain('No changes.')

  // A later task of the session keeps the existing code.
  await write(writeImportQuery([TABLE]), [TABLE])
  const file = await readFile(join(scripted.folder, 'imported.tf'), 'utf8')
  expect(file).toContain(`# ${INVOICES}`)
  expect(file).toContain(`"dynamodb_invoices"`)
})

test('feedback without a recording changes nothing and says so', async () => {
  await write(writeImportQuery([TABLE]), [TABLE])
  for (const feedback of ['Error: Provider produced inconsistent result', '`terraform_data.x` (id): not found']) {
    const { args, called } = await write(writeFeedbackQuery(feedback), [TABLE])
    expect(args).toMatchObject({ status: 'not done', summary: expect.stringContaining('no recording') })
    expect(called).not.toContain('write_to_file')
  }
})

test.each([
  [
    { selected_resource_ids: [INVOICES, DEAD], import_results: { imported: [{ resource_id: INVOICES }], failed: [] } },
    { status: 'Partial', execution_summary: '1 of 2 selected resources are managed now.' },
  ],
  [
    { selected_resource_ids: [], import_results: { imported: [], failed: [] }, summary: 'Nothing to do.' },
    { status: 'Succeeded', execution_summary: 'Nothing to do.' },
  ],
])('the report tells the results %j', async (results, expected) => {
  const query = `Write the report.\n\n${fence('import results', JSON.stringify(results))}`
  expect((await scripted.chain('generate_engine_import_report', query)).args).toMatchObject(expected)
})
