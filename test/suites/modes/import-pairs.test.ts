import { readdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { addresses, blocks, importReport, runImport, withScope } from './import-world.ts'
import { done, targets, write } from './scripts.ts'
import { startStack } from './stack.ts'

const stack = startOnce(startStack)

it('the engine reads the objects first: what a block contradicts is mended before it is imported', async () => {
  const folders: string[][] = []
  const iac = withScope(stack, ['id-a', 'id-b'], async ({ workspace_path }) => {
    folders.push(await readdir(String(workspace_path)))
    return undefined
  })
  const forcing = `resource "terraform_data" "a" {\n  triggers_replace = "guessed"\n}\n`
  const { llm, session } = await runImport(stack, iac, {
    task_complete: [
      ...[write('imported.tf', forcing + blocks('b')), done('Wrote two blocks.')],
      ...[write('imported.tf', blocks('a', 'b')), done('Took the guess back.')],
    ],
  })
  expect(session.messages.at(-1)).toBe('IMPORT')
  expect(iac.imports()).toEqual([
    ['terraform_data.b', 'id-b'],
    ['terraform_data.a', 'id-a'],
  ])
  const heard = said(llm.of('task_complete')[2])
  expect(heard).toContain(
    'the plan would replace the object: the object has triggers_replace none, the block has \\"guessed\\"',
  )
  // Before its import each object was read, without the lock of the state, by a file that is gone by then.
  const kinds = iac.jobs.map(({ kind, body }) => (kind === 'plan' ? `plan ${body.targets} ${body.lock}` : kind))
  expect(kinds.filter((kind) => kind.startsWith('plan'))).toContain('plan terraform_data.a,terraform_data.b false')
  expect(kinds.indexOf('plan terraform_data.a,terraform_data.b false')).toBeLessThan(kinds.indexOf('import'))
  expect(folders.flat().filter((name) => name.startsWith('platform-imports'))).toEqual([])
  const pushed = await stack.git(session.repo_uri, 'ls-tree', '-r', '--name-only', session.branch)
  expect(pushed).not.toContain('platform-imports')
  expect((await importReport(stack, session.uuid)).summary).toEqual({ selected: 2, imported: 2, failed: 0 })
})

it('an engine that cannot read first still imports', async () => {
  const iac = withScope(stack, ['id-a'])
  const { run } = iac
  iac.run = async (kind, body, options) =>
    kind === 'plan' && String((body as { plan_file: string }).plan_file).startsWith('platform-imports')
      ? { exit_code: 1, stdout: '', stderr: 'Error: Unsupported block type' }
      : await run(kind, body, options)
  const { session } = await runImport(stack, iac, {
    task_complete: [write('imported.tf', blocks('a')), done('Wrote a block.')],
    generate_engine_targets: targets('terraform_data.a'),
    import_addresses: addresses(['terraform_data.a', 'id-a']),
  })
  expect((await importReport(stack, session.uuid)).summary).toEqual({ selected: 1, imported: 1, failed: 0 })
})
