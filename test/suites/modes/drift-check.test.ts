import { describe, expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf, textsOf } from './artifacts.ts'
import { ADDED, done, goodLlm, MAIN, operations, SETTINGS, SPLIT, splits, targets, write } from './scripts.ts'
import { appliedRepository, engineBeside, firstRound, nextRound, startStack } from './stack.ts'

const stack = startOnce(startStack)

describe('drift', () => {
  it('that others made is brought into the code before the review', async () => {
    const repo_uri = await appliedRepository(stack, undefined, (state) =>
      state.replaceAll('"hello"', '"changed by hand"'),
    )
    const replace = '<<<<<<< SEARCH\n  input = "hello"\n=======\n  input = "changed by hand"\n>>>>>>> REPLACE'
    const llm = goodLlm({
      generate_engine_targets: targets(),
      task_complete: [
        write('second.tf', SETTINGS + ADDED),
        done('Added a second greeting.'),
        { calls: [['replace_in_file', { target_file: 'main.tf', diff: replace }]] },
        done('Took over the greeting.'),
      ],
      ...splits(
        operations(['Set the input of terraform_data.greeting to "changed by hand"', 'Remove terraform_data.second']),
        operations(['Set the input of terraform_data.greeting to "changed by hand"']),
        operations(['Set the input of terraform_data.greeting to "changed by hand"']),
        operations(['Remove terraform_data.second']),
        operations([]),
      ),
    })
    const session = await firstRound(stack, stack.context(llm), { repo_uri })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await stack.git(repo_uri, 'show', `${session.branch}:main.tf`)).toBe(
      MAIN.replace('hello', 'changed by hand'),
    )
    const plans = (await artifactsOf(stack, session.uuid)).filter(({ kind }) => kind === 'plan')
    expect(plans.map(({ type }) => type)).toEqual(['plan', 'drift', 'plan', 'drift'])
    expect(JSON.parse(plans[1]?.text ?? '')).toEqual([
      {
        address: 'terraform_data.greeting',
        action: 'update resource',
        changes: { changed: { input: { old_value: 'hello', new_value: 'changed by hand' } } },
      },
    ])
    const [round] = await stack.database.sql<{ result: { drift: string[] } }[]>`
      SELECT result FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${session.uuid}`
    expect(round?.result.drift).toEqual([
      'terraform_data.greeting: input "hello" → "changed by hand", as the infrastructure has it (main.tf)',
    ])
    const [told] = await textsOf(stack, session.uuid, 'report')
    expect(JSON.parse(told ?? '').summary).toEqual({ create: 1, update: 0, delete: 0, recreate: 0 })
    // The code that the pre-check wrote is no request of the user.
    expect(session.history.map(({ user, assistant }) => [user, assistant.split('\n')[0]])).toEqual([
      ['Add a second greeting', 'Added a second greeting.'],
    ])
  })

  it('is not what the session itself changes or takes away, and no model is asked about that', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': MAIN + ADDED })
    const edit = `<<<<<<< SEARCH\n${MAIN}${ADDED}=======\n${MAIN.replace('hello', 'good morning')}>>>>>>> REPLACE`
    const llm = goodLlm({
      task_complete: [
        { calls: [['replace_in_file', { target_file: 'main.tf', diff: edit }]] },
        done('Changed one greeting and removed the other.'),
      ],
      report_intent_statements: REMOVES_SECOND,
      ...splits(operations(['Restore everything'])),
    })
    const session = await firstRound(stack, stack.context(llm), { repo_uri, query: 'Remove the second greeting' })
    expect(session.messages).toContain(
      "Drift check completed; the remaining differences are this session's own changes.",
    )
    expect(llm.of(SPLIT)).toEqual([])
    const plans = (await artifactsOf(stack, session.uuid)).filter(({ kind }) => kind === 'plan')
    expect(plans.map(({ type }) => type)).toEqual(['plan', 'drift'])
    const [told] = await textsOf(stack, session.uuid, 'report')
    expect(JSON.parse(told ?? '').summary).toEqual({ create: 0, update: 1, delete: 1, recreate: 0 })
  })

  it('beside an own deletion is all that models are asked about', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': MAIN, 'second.tf': ADDED }, (state) =>
      state.replaceAll('"hello"', '"changed by hand"'),
    )
    const llm = goodLlm({
      generate_engine_targets: targets(),
      task_complete: [write('second.tf', SETTINGS), done('Removed the second.')],
      report_intent_statements: REMOVES_SECOND,
      ...splits(operations(['Set terraform_data.greeting']), operations([])),
    })
    const session = await firstRound(stack, stack.context(llm), { repo_uri, query: 'Remove the second greeting' })
    const [splitter, filter] = llm.of(SPLIT)
    expect(said(splitter)).toContain('terraform_data.greeting')
    expect(said(splitter)).not.toContain('terraform_data.second')
    expect(said(filter)).toContain('--- second.tf (changed) ---')
    const [, drift] = (await artifactsOf(stack, session.uuid)).filter(({ kind }) => kind === 'plan')
    expect(JSON.parse(drift?.text ?? '').map(({ address }: { address: string }) => address)).toEqual([
      'terraform_data.greeting',
    ])
  })

  it('is not what reaches instances through a module outside of the root, whatever a careless model would answer', async () => {
    const call = (input = '') => `module "nodes" {\n  source = "../../modules/nodes"\n${input}}\n`
    const files = {
      'roots/app/main.tf': call(),
      'modules/nodes/main.tf':
        'variable "nodes" {\n  default = 4\n}\n\nresource "terraform_data" "node" {\n  count = var.nodes\n}\n',
    }
    const repo_uri = await appliedRepository(stack, files, undefined, 'roots/app')
    const llm = goodLlm({
      task_complete: [write('main.tf', call('  nodes = 2\n')), done('Two nodes.')],
      ...splits(operations(['Set nodes of module.nodes.terraform_data.node to 4 again'])),
    })
    const request = { repo_uri, query: 'Only 2 nodes in place of 4', iac_path: 'roots/app' }
    const session = await firstRound(stack, stack.context(llm), request)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of(SPLIT)).toEqual([])
    const [told = ''] = await textsOf(stack, session.uuid, 'report')
    expect(JSON.parse(told).summary).toEqual({ create: 0, update: 0, delete: 2, recreate: 0 })
    expect(told).not.toContain('thers had')
  })

  it('is not a change of blanks in a heredoc, which targets and models see', async () => {
    const code = (step: string) =>
      `resource "terraform_data" "pipeline" {\n  input = <<-EOT\n    jobs:\n${step}\n  EOT\n}\n`
    const repo_uri = await appliedRepository(stack, { 'main.tf': code('    steps: 1') })
    const llm = goodLlm({
      generate_engine_targets: targets('terraform_data.none'),
      task_complete: [
        {
          calls: [
            ['replace_in_file', { target_file: 'main.tf', diff: REINDENT }],
            ['write_to_file', { target_file: 'settings.tf', content: SETTINGS }],
          ],
        },
        { calls: [['diff_history', {}]] },
        done('One level deeper.'),
      ],
      ...splits(operations(['Write the old text back'])),
    })
    const session = await firstRound(stack, stack.context(llm), { repo_uri, query: 'Indent the steps' })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of(SPLIT)).toEqual([])
    expect(said(llm.of('generate_engine_targets')[0])).toContain('+      steps: 1')
    expect(JSON.stringify(llm.of('task_complete').at(-1)?.messages)).toContain('+      steps: 1')
    const [told = ''] = await textsOf(stack, session.uuid, 'report')
    expect(JSON.parse(told).summary).toEqual({ create: 0, update: 1, delete: 0, recreate: 0 })
  })

  it('is unknown, and said to be, where the code from before the session cannot be planned', async () => {
    const variable = 'variable "name" {}\n\n'
    const repo_uri = await stack.repository({ 'main.tf': variable + MAIN.replace('"hello"', 'var.name') })
    await (await engineBeside(stack, repo_uri, { TF_VAR_name: 'hello' })).apply()
    const mended = `variable "name" {\n  default = "good morning"\n}\n\n${MAIN.replace('"hello"', 'var.name')}`
    const llm = goodLlm({
      generate_engine_targets: targets(),
      task_complete: [write('main.tf', mended), done('Gave it a default.')],
      ...splits(operations(['Set the input of terraform_data.greeting to "hello"'])),
    })
    const session = await firstRound(stack, stack.context(llm), { repo_uri, query: 'Say good morning by default' })
    expect(session.messages).toContain('Drift check completed; whose the remaining differences are is not known.')
    expect(llm.of(SPLIT)).toEqual([])
    const [round] = await stack.database.sql<{ notes: string[] }[]>`
      SELECT result->'notes' AS notes FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${session.uuid}`
    expect(round?.notes.join()).toMatch(
      /^Whose the differences at `terraform_data\.greeting` are is not known, since .* could not be planned: .*No value for required variable/,
    )
  })

  it('is not what an apply of this session has made', async () => {
    const repo_uri = await appliedRepository(stack)
    const llm = goodLlm({
      task_complete: [write('main.tf', MAIN.replace('hello', 'good morning')), done('Good morning.')],
    })
    const first = await firstRound(stack, stack.context(llm), { repo_uri, query: 'Say good morning' })
    const applied = await nextRound(stack, stack.context(goodLlm(), { mayLogErrors: true }), first.uuid, '', {
      mode: 'apply',
    })
    expect(applied.statuses.at(-1)).toBe('completed')
    const again = goodLlm({
      task_complete: [write('main.tf', MAIN.replace('hello', 'good evening')), done('Good evening.')],
    })
    const session = await nextRound(stack, stack.context(again), first.uuid, 'Say good evening')
    expect(session.messages).toContain(OWN)
    expect(again.of(SPLIT)).toEqual([])
  })
})

const REMOVES_SECOND = {
  args: {
    statements: [
      {
        ...{ kind: 'resource_count', type: 'terraform_data', name: 'second', action: 'delete', op: 'eq', value: 1 },
        ...{ text: 'The second greeting is removed', words: 'Remove the second' },
      },
    ],
  },
}
const OWN = "Drift check completed; the remaining differences are this session's own changes."
const REINDENT = '<<<<<<< SEARCH\n    steps: 1\n=======\n      steps: 1\n>>>>>>> REPLACE'
