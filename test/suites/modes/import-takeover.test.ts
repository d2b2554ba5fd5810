import { describe, expect, it } from 'vitest'
import { STOPPING } from '../../../src/data/queue.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import { addresses, blocks, importLlm, importReport, QUERY, withScope } from './import-world.ts'
import { done, operations, SETTINGS, SPLIT, targets, write } from './scripts.ts'
import { dyingWorker, firstRound, lapse, runWaiting, startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('a round that is taken up again between two imports', () => {
  it.each([
    ['handed back before the second', STOPPING, false, ['id-a', 'id-b', 'id-b']],
    ['handed back after the second went through', STOPPING, true, ['id-a', 'id-b']],
    ['dead after the second went through', new Error('killed'), true, ['id-a', 'id-b']],
  ])('%s: nothing is imported twice', async (_, reason, goesThrough, tried) => {
    const llm = importLlm()
    const { signal, die } = dyingWorker(reason)
    const iac = withScope(stack, ['id-a', 'id-b', 'id-c'], async (_, number, through) => {
      if (number !== 2) return undefined
      if (goesThrough) await through()
      return die()
    })
    const context = stack.context(llm, { iac })
    const started = { ...context, llm: importLlm({ [SPLIT]: operations(['id-a', 'id-b']) }) }
    const interrupted = await firstRound(stack, started, { query: QUERY, mode: 'import', is_partial: true }, signal)
    expect(interrupted).toMatchObject({ in_flight: true, failures: [] })
    await lapse(stack, interrupted.uuid)

    const session = await runWaiting(stack, context, interrupted.uuid)
    expect(session.messages.at(-1)).toBe('IMPORT')
    expect(iac.imports().map(([, id]) => id)).toEqual(tried)
    // Neither filter nor generator is called again: selection and code of the first attempt remain.
    for (const chain of ['requests_filter', SPLIT, 'task_complete']) expect(llm.of(chain)).toEqual([])
    expect(await stack.git(interrupted.repo_uri, 'show', `${session.branch}:imported.tf`)).toBe(blocks('a', 'b'))
    expect(await importReport(stack, session.uuid)).toMatchObject({
      summary: { selected: 2, imported: 2, failed: 0 },
      status: 'Succeeded',
      imported_resources: [
        { resource_address: 'terraform_data.a', resource_id: 'id-a' },
        { resource_address: 'terraform_data.b', resource_id: 'id-b' },
      ],
      excluded_resources: [{ resource_id: 'id-c', details: 'Not selected by the request.' }],
      state_alignment: 'Aligned: a plan after the import changes none of the imported resources (2).',
    })
    expect((await artifactsOf(stack, session.uuid)).map(({ kind }) => kind)).toEqual(['plan', 'plan', 'report'])
    expect(session.history).toEqual([
      { user: QUERY, assistant: 'Imported 2 of 2 resources.\n- terraform_data.a (id-a)\n- terraform_data.b (id-b)' },
    ])
  })

  it('goes on with the generator where the code of the first attempt is not enough', async () => {
    // Valid code of another address, so targets are needed.
    const ODD = `${SETTINGS}resource "terraform_data" "odd" {\n}\n`
    const first = importLlm({
      task_complete: [
        ...[write('imported.tf', blocks('a')), done('Wrote one block.')],
        ...[write('broken.tf', ODD), done('More.')],
      ],
      generate_engine_targets: targets('terraform_data.a'),
      import_addresses: addresses(['terraform_data.a', 'id-a']),
    })
    const { signal, die } = dyingWorker(STOPPING)
    const iac = withScope(stack, ['id-a', 'id-b'])
    const dying = {
      ...first,
      complete: async (request: Parameters<typeof first.complete>[0]) => {
        const asksTargets = request.tools?.at(-1)?.name === 'generate_engine_targets'
        return asksTargets && first.of('task_complete').length === 4 ? die() : await first.complete(request)
      },
    }
    const context = stack.context(dying, { iac })
    const interrupted = await firstRound(stack, context, { query: QUERY, mode: 'import' }, signal)
    expect(interrupted.in_flight).toBe(true)
    expect(await stack.git(interrupted.repo_uri, 'show', `${interrupted.branch}:broken.tf`)).toBe(ODD)

    const second = importLlm({
      task_complete: [write('second.tf', SETTINGS + blocks('b')), done('Wrote the other block.')],
      generate_engine_targets: targets('terraform_data.b'),
      import_addresses: addresses(['terraform_data.a', 'id-a'], ['terraform_data.b', 'id-b']),
    })
    const session = await runWaiting(stack, stack.context(second, { iac }), interrupted.uuid)
    expect(said(second.of('task_complete')[0])).toContain(
      'No resource block of the plan was found for these identifiers:\\n- id-b',
    )
    // The attempt without an import is gone.
    expect(
      (await stack.git(interrupted.repo_uri, 'ls-tree', '-r', '--name-only', session.branch)).trim().split('\n'),
    ).toEqual(['imported.tf', 'main.tf', 'second.tf'])
    expect(iac.imports()).toEqual([
      ['terraform_data.a', 'id-a'],
      ['terraform_data.b', 'id-b'],
    ])
    // Imported resources are planned, whatever the targets of the second attempt are.
    const planned = iac.jobs.filter(({ kind }) => kind === 'plan').map(({ body }) => body.targets)
    expect(planned.at(-1)).toEqual(['terraform_data.b', 'terraform_data.a'])
    expect(await importReport(stack, session.uuid)).toMatchObject({ summary: { selected: 2, imported: 2, failed: 0 } })
  })
})
