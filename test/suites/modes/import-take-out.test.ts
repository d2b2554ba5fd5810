import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { modes } from '../../../pipeline/modes/index.ts'
import { openLedger } from '../../../pipeline/steps/import/ledger.ts'
import { STOPPING } from '../../../src/data/queue.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import type { EngineResult } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { createSteps } from '../../pipeline/steps/support.ts'
import { managedState } from './apply-world.ts'
import { prepare, reportOf } from './import-engine.ts'
import { addresses, importLlm, importReport, lost, QUERY, runImport, withScope } from './import-world.ts'
import { done, MAIN, targets, write } from './scripts.ts'
import { dyingWorker, firstRound, lapse, runWaiting, type Stack, startStack } from './stack.ts'

const stack = startOnce(startStack)
const steps = startOnce(createSteps)

const block = (name: string) => `resource "terraform_data" "${name}" {\n  input = "${name}"\n}\n`
const ORDERS = 'terraform_data.orders'
const PAYMENTS = 'terraform_data.payments'
const MISPLACED = 'the object has input "payments", the block has "orders"'

const INPUTS: Record<string, string> = { 'id-p': 'payments', 'id-o': 'orders' }

type Remove = (through: () => Promise<EngineResult>) => Promise<EngineResult>

interface Options {
  on_remove?: Remove
  scope?: string[]
}

/** Wraps the real sidecar: the object `id-p` has the input of payments, and no plan reads objects before an import. */
function misplacing(world: Stack, repo_uri: string, { on_remove, scope = ['id-p'] }: Options = {}) {
  const iac = withScope(world, scope, async (body, _, through) => {
    const result = await through()
    await giveInput(world, repo_uri, String(body.resource_id))
    return result
  })
  const { run } = iac
  const removals: string[] = []
  iac.run = async (kind, body, options) => {
    const names = kind === 'plan' ? await readdir(body.workspace_path) : []
    if (names.some((name) => name.startsWith('platform-imports') && name.endsWith('.tf.json')))
      return { exit_code: 1, stdout: '', stderr: 'Error: Unsupported block type' }
    const through = () => run(kind, body, options)
    if ('address' in body && kind === 'state_rm') removals.push(body.address)
    return kind === 'state_rm' && on_remove ? await on_remove(through) : await through()
  }
  return Object.assign(iac, { removals })
}

const keyOf = async (repo_uri: string) => `${await deriveProjectId(repo_uri, 'acme-test', null)}/terraform.tfstate`

/** Gives an object in the state of a repository a value, as if its provider had read that. */
async function giveInput({ states }: Stack, repo_uri: string, id: string): Promise<void> {
  const key = await keyOf(repo_uri)
  const state = JSON.parse(new TextDecoder().decode(await states.get(key)))
  const value = { value: INPUTS[id], type: 'string' }
  for (const { instances } of state.resources)
    for (const { attributes } of instances)
      if (attributes.id === id) Object.assign(attributes, { input: value, output: value })
  const text = JSON.stringify({ ...state, serial: state.serial + 1 })
  await states.put(key, text, { content_type: 'application/json' })
}

/** Names the block of `id-p` wrongly first, and then as the object is. */
const TWICE = {
  task_complete: [
    ...[write('imported.tf', block('orders')), done('Wrote a block.')],
    ...[write('imported.tf', block('payments')), done('Wrote another one.')],
  ],
  generate_engine_targets: [targets(ORDERS), targets(PAYMENTS)],
  import_addresses: [addresses([ORDERS, 'id-p']), addresses([PAYMENTS, 'id-p'])],
}

const repository = (world: Stack) => world.repository({ 'main.tf': MAIN })
const requestOf = (repo_uri: string) => ({ repo_uri, query: QUERY, mode: 'import' as const })
describe('an import that a later plan shows to be of another object', () => {
  it('is taken out of the state, and its author writes a block for the object in the same round', async () => {
    const repo_uri = await repository(stack)
    const iac = misplacing(stack, repo_uri)
    const { llm, session } = await runImport(stack, iac, TWICE, { request: requestOf(repo_uri) })
    expect(session.messages.at(-1)).toBe('IMPORT')
    expect(iac.removals).toEqual([ORDERS])
    expect(iac.imports()).toEqual([
      [ORDERS, 'id-p'],
      [PAYMENTS, 'id-p'],
    ])
    const heard = said(llm.of('task_complete')[2])
    expect(heard).toContain('taken out of the state again')
    expect(heard).toContain(JSON.stringify(MISPLACED).slice(1, -1))
    expect(await managedState(stack.context(llm), repo_uri)).toEqual([PAYMENTS])
    const report = await importReport(stack, session.uuid)
    expect(report).toMatchObject({
      summary: { selected: 1, imported: 1, failed: 0 },
      imported_resources: [{ resource_address: PAYMENTS, resource_id: 'id-p' }],
      state_alignment: 'Aligned: a plan after the import changes none of the imported resources (1).',
    })
    expect(JSON.stringify(report.recommendations)).not.toContain('state rm')
  })

  it.each([
    ['was lost after the removal', true],
    ['was lost before it', false],
  ])('is judged by the state where the answer %s', async (_, goesThrough) => {
    const repo_uri = await repository(stack)
    const on_remove: Remove = async (through) => {
      if (goesThrough) await through()
      throw lost()
    }
    const iac = misplacing(stack, repo_uri, { on_remove })
    const { llm, session } = await runImport(stack, iac, TWICE, { request: requestOf(repo_uri) })
    const report = await importReport(stack, session.uuid)
    expect(iac.removals).toEqual([ORDERS])
    expect(await managedState(stack.context(llm), repo_uri)).toEqual([goesThrough ? PAYMENTS : ORDERS])
    expect(report.imported_resources).toMatchObject([{ resource_address: goesThrough ? PAYMENTS : ORDERS }])
    expect(JSON.stringify(report.recommendations).includes(`state rm '${ORDERS}'`)).toBe(!goesThrough)
  })

  it.each([
    ['handed back before the removal', STOPPING, 'before'],
    ['dead after it', new Error('killed'), 'after'],
    ['dead after its record', new Error('killed'), 'recorded'],
  ])('ends the same way when its worker is %s', async (_, reason, end) => {
    const repo_uri = await repository(stack)
    const { signal, die } = dyingWorker(reason)
    let attempt = 1
    const on_remove: Remove = async (through) => {
      if (attempt > 1 || end === 'recorded') return await through()
      if (end === 'after') await through()
      return die()
    }
    const iac = misplacing(stack, repo_uri, { on_remove })
    const first = importLlm(TWICE)
    const dying = {
      ...first,
      complete: async (request: Parameters<typeof first.complete>[0]) =>
        iac.removals.length > 0 ? die() : await first.complete(request),
    }
    const interrupted = await firstRound(stack, stack.context(dying, { iac }), requestOf(repo_uri), signal)
    expect(interrupted).toMatchObject({ in_flight: true, failures: [] })
    const [entry] = await stack.database.sql`
      SELECT address, imported FROM round_imports WHERE round_id IN (
        SELECT rounds.id FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${interrupted.uuid})`
    expect(entry).toEqual({ address: end === 'recorded' ? '' : ORDERS, imported: false })
    await lapse(stack, interrupted.uuid)
    attempt++
    const [, , ...second] = TWICE.task_complete
    const llm = importLlm({ ...TWICE, task_complete: second })
    const session = await runWaiting(stack, stack.context(llm, { iac }), interrupted.uuid)
    expect(session.messages.at(-1)).toBe('IMPORT')
    expect(await managedState(stack.context(llm), repo_uri)).toEqual([PAYMENTS])
    expect(await importReport(stack, session.uuid)).toMatchObject({
      summary: { selected: 1, imported: 1, failed: 0 },
      imported_resources: [{ resource_address: PAYMENTS, resource_id: 'id-p' }],
    })
  })

  it('leaves its block to the object that has it', async () => {
    const repo_uri = await repository(stack)
    const iac = misplacing(stack, repo_uri, { scope: ['id-p', 'id-o'] })
    const { llm, session } = await runImport(
      stack,
      iac,
      {
        ...TWICE,
        task_complete: [
          ...[write('imported.tf', block('orders')), done('Wrote a block.')],
          ...[write('more.tf', block('payments')), done('Wrote another one.')],
        ],
        generate_engine_targets: [targets(ORDERS), targets(ORDERS, PAYMENTS)],
        import_addresses: [addresses([ORDERS, 'id-p']), addresses([ORDERS, 'id-o'], [PAYMENTS, 'id-p'])],
      },
      { request: requestOf(repo_uri) },
    )
    expect((await managedState(stack.context(llm), repo_uri)).toSorted()).toEqual([ORDERS, PAYMENTS])
    expect((await importReport(stack, session.uuid)).imported_resources).toMatchObject([
      { resource_address: ORDERS, resource_id: 'id-o' },
      { resource_address: PAYMENTS, resource_id: 'id-p' },
    ])
  })
})

const ADDRESS = 'aws_instance.web'
const ID = 'arn:aws:ec2:eu-central-1:123456789012:instance/i-0123'
const WEB = {
  code: [ADDRESS],
  scope: [ID],
  values: { [ADDRESS]: { tags: { Name: 'web' } } },
  objects: { [ADDRESS]: { tags: { Name: 'database' } } },
  scripts: {
    task_complete: [write('web.tf', 'resource "aws_instance" "web" {\n}\n'), done('Wrote a block.')],
    generate_engine_targets: targets(ADDRESS),
    import_addresses: addresses([ADDRESS, ID]),
  },
}
const offersRemoval = async (addition: string) => addition === 'state_rm'

it('the report says what was taken out when the attempts are used up, and the pair is not imported again', async () => {
  const { world } = await prepare(steps, { ...WEB, orchestration: { max_import_iteration: 2 } })
  world.run.context.iac.offers = offersRemoval
  await modes.import.handle(world.run)
  const kinds = world.jobs.map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'import' || kind === 'state_rm')).toEqual(['import', 'state_rm'])
  const report = reportOf(world)
  expect(report).toMatchObject({ status: 'Failed', summary: { selected: 1, imported: 0, failed: 1 } })
  expect(report.imported_resources[0].error_message).toBe(
    `It was imported as ${ADDRESS} and taken out of the state again: the object has tags.Name "database", the block ` +
      'has "web".',
  )
  expect(report.state_alignment).toBe('Nothing was imported; the state is unchanged.')
})

it('nothing is taken out that the round has not imported', async () => {
  const { world } = await prepare(steps, WEB)
  world.run.context.iac.offers = offersRemoval
  const ledger = await openLedger(world.kit, [ID, 'id-b'])
  const one = { address: ADDRESS, resource_id: ID, error: 'x', object: { before: {}, before_sensitive: false } }
  const refused = 'this round has not imported the address'
  await expect(ledger.beginRemoval(one)).rejects.toThrow(refused)
  await expect(ledger.beginRemoval({ ...one, resource_id: 'id-of-others' })).rejects.toThrow(refused)
  await ledger.begin(one, 'c1')
  await expect(ledger.beginRemoval(one)).rejects.toThrow(refused)
  await ledger.succeed(ID)
  await expect(ledger.beginRemoval({ ...one, address: `${ADDRESS}[0]` })).rejects.toThrow(refused)
  await expect(ledger.beginRemoval({ ...one, resource_id: 'id-b' })).rejects.toThrow(refused)
  await ledger.beginRemoval(one)
  // By then the state decides, so that it is not begun twice.
  await expect(ledger.beginRemoval(one)).rejects.toThrow(refused)
  expect(ledger.pending()).toEqual([ID, 'id-b'])
})
