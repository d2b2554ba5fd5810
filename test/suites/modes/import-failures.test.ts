import { describe, expect, it } from 'vitest'
import { modes } from '../../../pipeline/modes/index.ts'
import { runRound } from '../../../pipeline/run-round.ts'
import { openWorkspace } from '../../../pipeline/workspace/open.ts'
import { findSession } from '../../../src/sessions/find.ts'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { blocks, importLlm, importReport, lost, QUERY, runImport, withScope } from './import-world.ts'
import { done, MAIN, write } from './scripts.ts'
import { startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('an import that fails', () => {
  it('is tried again with the words of the engine, the others are not', async () => {
    const refuse = { exit_code: 1, stderr: 'Error: Cannot import non-existent remote object' }
    const iac = withScope(stack, ['id-a', 'id-b'], ({ resource_id }, number) =>
      resource_id === 'id-b' && number === 2 ? refuse : undefined,
    )
    const { llm, session } = await runImport(stack, iac, {
      task_complete: [write('imported.tf', blocks('a', 'b')), done('Wrote two blocks.'), done('Nothing to mend.')],
    })
    expect(iac.imports().map(([, id]) => id)).toEqual(['id-a', 'id-b', 'id-b'])
    const feedback = said(llm.of('task_complete')[2])
    expect(feedback).toContain('- `terraform_data.a` (id-a)')
    expect(feedback).toContain('- `terraform_data.b` (id-b): Error: Cannot import non-existent remote object')
    // The second call is only about the pending one.
    expect(said(llm.of('import_addresses')[1])).not.toContain('- id-a')
    expect(await importReport(stack, session.uuid)).toMatchObject({
      status: 'Succeeded',
      summary: { selected: 2, imported: 2, failed: 0 },
    })
    expect(session.history).toEqual([{ user: QUERY, assistant: 'Wrote two blocks.' }])
  })

  it('does not undo the others: the round goes on with what was imported', async () => {
    const refuse = { exit_code: 1, stderr: 'Error: no permission' }
    const iac = withScope(stack, ['id-a', 'id-b'], ({ resource_id }) => (resource_id === 'id-b' ? refuse : undefined))
    const { session } = await runImport(stack, iac, {}, { orchestration: { max_import_iteration: 2 } })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(iac.imports().map(([, id]) => id)).toEqual(['id-a', 'id-b', 'id-b'])
    expect(await importReport(stack, session.uuid)).toMatchObject({
      summary: { selected: 2, imported: 1, failed: 1 },
      status: 'Partial',
      imported_resources: [
        { resource_address: 'terraform_data.a', resource_id: 'id-a', status: 'imported', error_message: null },
        {
          resource_address: 'terraform_data.b',
          resource_id: 'id-b',
          status: 'failed',
          error_message: 'Error: no permission',
        },
      ],
      state_alignment:
        'Aligned: a plan after the import changes none of the imported resources (1). Beyond what was imported ' +
        'it has: terraform_data.b (create).',
      recommendations: [
        'Import these or remove their blocks before the code is applied, else they are created anew: ' +
          'terraform_data.b (id-b).',
        'Open a pull request.',
      ],
    })
    expect(session.history).toEqual([
      { user: QUERY, assistant: 'Imported 1 of 2 resources.\n- terraform_data.a (id-a)' },
    ])
  })

  it('of unknown outcome is not repeated when the state has it', async () => {
    const iac = withScope(stack, ['id-a', 'id-b'], async (_, number, through) => {
      if (number > 1) return undefined
      await through()
      throw lost()
    })
    const { session } = await runImport(stack, iac)
    expect(iac.imports().map(([, id]) => id)).toEqual(['id-a', 'id-b'])
    expect(await importReport(stack, session.uuid)).toMatchObject({ status: 'Succeeded', summary: { imported: 2 } })
  })
})

it('an import that cannot go on fails the round and tells staff and owner', async () => {
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const iac = withScope(stack, { stdout: 'no list' })
  const context = stack.context(importLlm(), { iac })
  const user = await createUser(context.sql, crypto.randomUUID())
  const uuid = await openSession(context, user.id, { repo_uri, query: QUERY, mode: 'import', is_partial: false })
  const [round] = await context.sql<{ id: number }[]>`
      SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
  const told: { round: number; message: string }[] = []
  await runRound(context, round?.id ?? 0, modes, new AbortController().signal, {
    openWorkspace: (claimed, options) => openWorkspace(stack.config, claimed, options),
    notifyFailure: async (_, facts) => {
      told.push(facts)
    },
  })
  const message =
    'runner failed: iac service returned an unexpected response: the scope identifiers are no JSON list of texts.'
  expect(told).toEqual([{ round: 1, message }])
  const session = await findSession(context.sql, uuid)
  expect(session).toMatchObject({ current_status: 'failed', in_flight: false })
})
