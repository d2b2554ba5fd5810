import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { applyReports, applyRound, contextOf, managedState } from './apply-world.ts'
import { textsOf } from './artifacts.ts'
import { done, goodLlm, targets, write } from './scripts.ts'
import { firstRound, nextRound, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)

const ROOT = `{
    "variable": { "depth": { "type": "number", "default": 5 } },
    "resource": {
        "terraform_data": {
            "queue": { "input": { "depth": "\${var.depth}" } },
            "web": { "input": "x" }
        }
    }
}
`
const edit = (from: string, to: string) => ({
  calls: [
    [
      'replace_in_file',
      { target_file: 'main.tf.json', diff: `<<<<<<< SEARCH\n${from}\n=======\n${to}\n>>>>>>> REPLACE\n` },
    ],
  ] as [string, Record<string, unknown>][],
})
const WEB = '            "web": { "input": "x" }'

it('edits, plans and applies a root in the JSON syntax', async () => {
  const context = contextOf(
    stack,
    {},
    {
      task_complete: [
        edit(WEB, `${WEB},\n            "second": { "input": "y" },`),
        edit(WEB, `${WEB},\n            "second": { "input": "y" }`),
        done('Added a second one.'),
      ],
    },
  )
  const session = await firstRound(stack, context, { files: { 'main.tf.json': ROOT } })
  expect(session.statuses.at(-1)).toBe('completed')
  const changed = ROOT.replace(WEB, `${WEB},\n            "second": { "input": "y" }`)
  expect(await stack.git(session.repo_uri, 'show', `${session.branch}:main.tf.json`)).toBe(changed)
  const [report] = (await textsOf(stack, session.uuid, 'report')).map((text) => JSON.parse(text))
  expect(report).toMatchObject({ summary: { create: 1, update: 0, delete: 0, recreate: 0 } })
  expect((await applyRound(stack, context, session.uuid)).statuses.at(-1)).toBe('completed')
  expect(await managedState(context, session.repo_uri)).toEqual(['terraform_data.second'])

  const next = goodLlm({
    task_complete: [edit('"default": 5 } },', '"default": 6 } },'), done('Made it deeper.')],
    generate_engine_targets: targets('terraform_data.queue'),
  })
  const deeper = await nextRound(stack, stack.context(next), session.uuid, 'Make the queue deeper')
  expect(deeper.statuses.at(-1)).toBe('completed')
})

it('tells the author what is wrong with an edit, and writes nothing', async () => {
  const { llm, session } = await runGenerate(
    stack,
    { task_complete: [edit(WEB, WEB.slice(0, -1)), write('second.tf.json', '{"resorce": {}}'), done('Gave up.')] },
    { request: { files: { 'main.tf.json': ROOT } } },
  )
  const told = llm.of('task_complete')[2]?.messages.filter(({ role }) => role === 'tool') ?? []
  expect(told.map(({ content }) => content)).toEqual([
    expect.stringContaining(
      "Nothing was written to 'main.tf.json': the text is no JSON at line 10, column 1: a comma is missing",
    ),
    expect.stringContaining('Nothing was written to \'second.tf.json\': "resorce" in line 1 is no kind of block'),
  ])
  expect(await stack.git(session.repo_uri, 'ls-tree', '--name-only', session.branch)).toBe('main.tf.json\n')
})

it.each([
  ['a program as data source', { data: { external: { who: { program: ['whoami'] } } } }, 'data "external"'],
  ['a file of the host', { locals: { a: `$${'{file("/etc/passwd")}'}` } }, 'file("/etc/passwd")'],
  ['a module of the host', { module: { m: { source: '/etc' } } }, 'of this machine'],
])('refuses %s that the author writes in the JSON syntax', async (_, code, named) => {
  const { llm, session } = await runGenerate(stack, {
    task_complete: [write('evil.tf.json', JSON.stringify(code)), done('Wrote it.'), done('It stays.')],
  })
  expect(session.statuses.at(-1)).not.toBe('completed')
  const told = llm.of('task_complete')[2]?.messages.at(-1)?.content
  expect(told).toContain('evil.tf.json line 1')
  expect(told).toContain(named)
})

it('does not apply a provisioner in the JSON syntax', async () => {
  const provisioner = [{ 'local-exec': { command: 'id' } }]
  const code = { resource: [{ terraform_data: { second: [{ input: 'x', provisioner }] } }] }
  const context = contextOf(
    stack,
    {},
    { task_complete: [write('evil.tf.json', JSON.stringify(code)), done('Wrote it.')] },
  )
  const session = await firstRound(stack, context)
  const applied = await applyRound(stack, context, session.uuid)
  expect(await managedState(context, session.repo_uri)).toEqual([])
  const [report] = await applyReports(stack, session.uuid)
  expect(report).toMatchObject({ status: 'Failed' })
  expect(JSON.stringify([report, applied.history])).toContain('provisioner')
})
