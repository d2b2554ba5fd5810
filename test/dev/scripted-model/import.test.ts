import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { iacGeneratorLayout } from '../../../src/prompts/layouts/iac-generator.ts'
import { importAddressesLayout, importFilterLayout } from '../../../src/prompts/layouts/import.ts'
import { requestsFilterLayout } from '../../../src/prompts/layouts/requests-filter.ts'
import { feedbackQuery, importQuery, reportQuery, requestQuery } from '../../../src/prompts/queries.ts'
import { EDITING, INSPECTION, type Scripted, startScripted } from './support.ts'

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

const select = async (request: string) =>
  (
    await scripted.chain({
      sentinel: 'report_decomposed_task_operations',
      query: requestQuery(request),
      system: importFilterLayout({ unmanaged_ids: KNOWN, templates: [], abbreviations: [] }),
    })
  ).args
const rules = (selected_ids: string[]) =>
  iacGeneratorLayout({
    engine: '',
    templates: [],
    abbreviations: [],
    resource_creation: '',
    networking: '',
    permissions: '',
    forbidden_actions: null,
    operation: 'import',
    selected_ids,
  })

test('a request to import is accepted, another one declined', async () => {
  const system = requestsFilterLayout({ guideline: '', forbidden_actions: '', variant: 'import' })
  const ask = (request: string) =>
    scripted.chain({ sentinel: 'requests_filter', query: requestQuery(request), tools: INSPECTION, system })
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
  const write = (query: string) =>
    scripted.chain({ sentinel: 'task_complete', query, tools: EDITING, system: rules(ids) })
  await write(importQuery(ids))
  await scripted.engine('init', '-no-color', '-input=false')
  const refused = await scripted.engine('validate', '-no-color')
  expect(refused.stderr).toContain('An argument named "arn" is not expected here')
  await write(feedbackQuery(refused.stderr))
  expect((await scripted.engine('validate', '-no-color')).stdout).toContain('The configuration is valid')
  expect(await readFile(join(scripted.folder, 'imported.tf'), 'utf8')).not.toContain('arn =')

  const addresses = await scripted.chain({
    sentinel: 'import_addresses',
    query: 'Name the addresses.',
    tools: INSPECTION,
    system: importAddressesLayout({ pending_ids: [DEAD, INVOICES, TABLE] }),
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
  const targets = await scripted.chain({ sentinel: 'generate_engine_targets', query: 'Targets', tools: INSPECTION })
  expect(targets.args.targets).toHaveLength(2)
  const plan = await scripted.engine(
    'plan',
    '-no-color',
    ...targets.args.targets.flatMap((target) => ['-target', target]),
  )
  expect(plan.stdout).toContain('No changes.')

  // A later task of the session keeps what is there.
  await scripted.chain({
    sentinel: 'task_complete',
    query: importQuery([TABLE]),
    tools: EDITING,
    system: rules([TABLE]),
  })
  const file = await readFile(join(scripted.folder, 'imported.tf'), 'utf8')
  expect(file).toContain(`# ${INVOICES}`)
  expect(file).toContain(`"dynamodb_invoices"`)
})

test('feedback without a recording changes nothing and says so', async () => {
  await scripted.chain({
    sentinel: 'task_complete',
    query: importQuery([TABLE]),
    tools: EDITING,
    system: rules([TABLE]),
  })
  for (const feedback of ['Error: Provider produced inconsistent result', '`terraform_data.x` (id): not found']) {
    const query = feedbackQuery(feedback)
    const { args, called } = await scripted.chain({
      sentinel: 'task_complete',
      query,
      tools: EDITING,
      system: rules([TABLE]),
    })
    expect(args).toMatchObject({ status: 'not done', summary: expect.stringContaining('no recording') })
    expect(called).not.toContain('write_to_file')
  }
})

test('the report repeats the results', async () => {
  const report = async (results: object) =>
    (
      await scripted.chain({
        sentinel: 'generate_engine_import_report',
        query: reportQuery('import results', JSON.stringify(results)),
      })
    ).args
  const imported = [{ address: 'terraform_data.a', resource_id: INVOICES, error: null }]
  const failed = [{ address: 'terraform_data.b', resource_id: DEAD, error: 'denied' }]
  expect(
    await report({
      selected_resource_ids: [INVOICES, DEAD],
      excluded_resource_ids: [TABLE],
      import_results: { imported, failed },
      plan_after_import: 'No changes.',
    }),
  ).toMatchObject({
    summary: { selected: 2, imported: 1, failed: 1 },
    status: 'Partial',
    imported_resources: [{ status: 'imported' }, { status: 'failed', error_message: 'denied' }],
    excluded_resources: [{ resource_id: TABLE }],
  })
  const empty = {
    selected_resource_ids: [],
    excluded_resource_ids: [],
    import_results: { imported: [], failed: [] },
    summary: 'Nothing to do.',
  }
  expect(await report(empty)).toMatchObject({ status: 'Succeeded', execution_summary: 'Nothing to do.' })
})
