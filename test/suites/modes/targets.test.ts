import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { STOPPING } from '../../../src/data/queue.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { sectionOf } from '../../pull-requests/evidence/fixtures.ts'
import { impactPoint, pullRequestText, textsOf } from './artifacts.ts'
import { ADDED, done, GATES, goodLlm, MAIN, operations, SETTINGS, STATE, targets, write } from './scripts.ts'
import {
  appliedRepository,
  engineBeside,
  planPath,
  runGenerate,
  runWaiting,
  type SessionView,
  startStack,
  watched,
} from './stack.ts'

const stack = startOnce(startStack)
const CHAIN = 'generate_engine_targets'

/** Reads the stored data of a session's first round. */
async function storedRound(uuid: string) {
  const [row] = await stack.database.sql<
    { usage: { validation_attempts: number }; notes: string[]; targets: string[][] }[]
  >`
    SELECT usage, result->'notes' AS notes,
      (SELECT json_agg(targets ORDER BY p.id) FROM engine_plans p JOIN artifacts a ON a.id = artifact_id
       WHERE p.round_id = rounds.id) AS targets
    FROM rounds JOIN sessions ON sessions.id = session_id WHERE uuid = ${uuid}`
  if (!row) throw new Error('the round is gone')
  return row
}

const moved = (from: string, to: string) => `moved {\n  from = ${from}\n  to   = ${to}\n}\n`
const resource = (name: string, input = name) => `resource "terraform_data" "${name}" {\n  input = "${input}"\n}\n`

describe('a refactoring with moves', () => {
  it('in a small root needs one attempt and destroys nothing, although a model names the new address alone', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': MAIN })
    const move = moved('terraform_data.greeting', 'terraform_data.welcome')
    const code = `${SETTINGS}${MAIN.replace('greeting', 'welcome')}\n${move}`
    const scripts = {
      task_complete: [write('main.tf', code), done('Renamed the greeting.')],
      [CHAIN]: targets('terraform_data.welcome'),
      report_decomposed_task_operations: operations([]),
    }
    const { iac, plans } = watched(stack)
    const request = { repo_uri, query: 'Rename the greeting to welcome' }
    const { llm, session } = await runGenerate(stack, scripts, { iac, request })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(plans()[0]).toEqual(['terraform_data.welcome', 'terraform_data.greeting'])
    expect((await storedRound(session.uuid)).usage.validation_attempts).toBe(1)
    const [plan] = await textsOf(stack, session.uuid, 'plan')
    expect(plan).toContain('terraform_data.greeting has moved to terraform_data.welcome')
    expect(plan).toContain('Plan: 0 to add, 0 to change, 0 to destroy.')
    expect(llm.of(CHAIN)).toHaveLength(1)
    expect(said(llm.of(CHAIN)[0])).toContain('from = terraform_data.greeting')

    // The pull request tells so, and how to move it back.
    const text = await pullRequestText(stack, session.uuid, repo_uri)
    expect(sectionOf(text, 'Plan')).toMatch(/^\*\*0 to create, 0 to update, 0 to delete, 0 to recreate, 1 to move\*\*/)
    expect(sectionOf(text, 'Plan')).toContain('| move | `terraform_data.greeting` → `terraform_data.welcome` |  |')
    expect(sectionOf(text, 'How to roll back')).toContain(
      '- from `terraform_data.welcome` to `terraform_data.greeting`',
    )
  })

  it('into a module of a large root needs one attempt and destroys nothing', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `part_${index}`)
    const files = Object.fromEntries(names.map((name) => [`${name}.tf`, resource(name)]))
    const repo_uri = await appliedRepository(stack, files)
    const chosen = names.slice(0, 6)
    const moves = chosen.map((name) => moved(`terraform_data.${name}`, `module.app.terraform_data.${name}`))
    const scripts = {
      task_complete: [
        {
          calls: chosen.map((name): [string, Record<string, unknown>] => [
            'delete_file',
            { target_file: `${name}.tf` },
          ]),
        },
        write('modules/app/main.tf', chosen.map((name) => resource(name)).join('\n')),
        write('app.tf', [SETTINGS, 'module "app" {\n  source = "./modules/app"\n}\n', ...moves].join('\n')),
        done('Moved six parts into a module.'),
      ],
      [CHAIN]: targets('module.app'),
      report_decomposed_task_operations: operations([]),
    }
    const { iac, plans } = watched(stack)
    const request = { repo_uri, query: 'Move the first six parts into a module' }
    const { session } = await runGenerate(stack, scripts, { iac, request })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(plans()[0]?.[0]).toBe('module.app')
    expect(plans()[0]?.toSorted()).toEqual(['module.app', ...chosen.map((name) => `terraform_data.${name}`)])
    expect((await storedRound(session.uuid)).usage.validation_attempts).toBe(1)
    const [plan] = await textsOf(stack, session.uuid, 'plan')
    expect(plan).toContain('terraform_data.part_5 has moved to module.app.terraform_data.part_5')
    expect(plan).toContain('Plan: 0 to add, 0 to change, 0 to destroy.')
  })

  it('that others left pending is planned with what the session asks for, without another attempt', async () => {
    const main = `${MAIN}\n${moved('terraform_data.old', 'terraform_data.greeting')}`
    const repo_uri = await appliedRepository(stack, { 'main.tf': main }, (state) =>
      state.replace('"greeting"', '"old"'),
    )
    const { iac, plans, jobs } = watched(stack)
    const { llm, session } = await runGenerate(stack, {}, { iac, request: { repo_uri } })
    expect(session.statuses.at(-1)).toBe('completed')
    const completed = ['terraform_data.second', 'terraform_data.greeting', 'terraform_data.old']
    expect(plans()[0]).toEqual(['terraform_data.second'])
    expect(plans()[1]?.toSorted()).toEqual(completed.toSorted())
    expect(jobs.slice(0, 5).map(([kind]) => kind)).toEqual(['init', 'validate', 'plan', 'plan', 'show'])
    const { usage, targets: stored } = await storedRound(session.uuid)
    expect(usage.validation_attempts).toBe(1)
    expect(stored[0]?.toSorted()).toEqual(completed.toSorted())
    expect((await textsOf(stack, session.uuid, 'plan'))[0]).toContain('Plan: 1 to add, 0 to change, 0 to destroy.')
    expect(llm.of(CHAIN)).toEqual([])
  })
})

describe('the targets of a round', () => {
  it('are asked for once when a repair changes no address, and again, with what became of them, when it does', async () => {
    const failing = (name: string, condition: string) =>
      `${SETTINGS}resource "terraform_data" "${name}" {\n  input = "x"\n  lifecycle {\n    precondition {\n` +
      `      condition     = ${condition}\n      error_message = "It is never right."\n    }\n  }\n}\n`
    const scripts = {
      task_complete: [
        ...[write('second.tf', failing('second', 'terraform.workspace == "none"')), done('One.')],
        ...[write('second.tf', failing('second', 'terraform.workspace == "void"')), done('Two.')],
        ...[write('second.tf', failing('third', 'terraform.workspace != "none"')), done('Three.')],
      ],
      [CHAIN]: [targets('terraform_data.second', 'var.x'), targets('terraform_data.third')],
    }
    const { iac, plans } = watched(stack)
    const orchestration = { max_validation_iteration: 3 }
    const { llm, session } = await runGenerate(stack, scripts, { iac, orchestration })
    expect(session.statuses.at(-1)).toBe('completed')
    expect((await storedRound(session.uuid)).usage.validation_attempts).toBe(3)
    expect(plans().slice(0, 3)).toEqual([
      ['terraform_data.second'],
      ['terraform_data.second'],
      ['terraform_data.third'],
    ])
    const [first, again, ...others] = llm.of(CHAIN)
    expect(others).toEqual([])
    expect(said(first)).not.toContain('You answered')
    expect(said(again)).toContain('You answered: terraform_data.second, var.x')
    expect(said(again)).toContain('Left out, because they do not exist: var.x')
    expect((await storedRound(session.uuid)).notes).toEqual([
      'The target var.x was left out: it is no address of a resource.',
      expect.stringMatching(/^Attempts: 1 failed at plan: .*; 2 failed at plan: .*; 3 was accepted\.$/),
    ])
  })

  it('leave out what neither the code nor the state has, and say so', async () => {
    const repo_uri = await appliedRepository(stack, { 'main.tf': MAIN })
    const { iac, plans } = watched(stack)
    const scripts = {
      task_complete: [write('second.tf', SETTINGS + ADDED), done('Added a second greeting.')],
      [CHAIN]: targets('terraform_data.imagined', 'terraform_data.second'),
    }
    const { session } = await runGenerate(stack, scripts, { iac, request: { repo_uri } })
    expect(session.statuses.at(-1)).toBe('completed')
    // The engine ignores an unknown address, so one plan suffices, beside that of the whole root.
    expect(plans()).toHaveLength(2)
    const { notes, targets: stored } = await storedRound(session.uuid)
    expect(stored[0]).toEqual(['terraform_data.second'])
    expect(notes).toEqual(['The target terraform_data.imagined was left out: neither the code nor the state has it.'])
  })

  it('are the changed blocks when nothing that was proposed exists', async () => {
    const code = `${SETTINGS}${MAIN}`.replace('input = "hello"', 'for_each = toset(["a"])\n  input    = "hello"')
    const scripts = {
      task_complete: [write('main.tf', code), done('One greeting a name.')],
      [CHAIN]: targets('terraform_data.greeting["b"]'),
      report_decomposed_task_operations: operations([]),
    }
    const { iac, plans } = watched(stack)
    const { session } = await runGenerate(stack, scripts, { iac })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(plans().slice(0, 2)).toEqual([['terraform_data.greeting["b"]'], ['terraform_data.greeting']])
    const texts = await textsOf(stack, session.uuid, 'plan')
    expect(texts[0]).toContain('Plan: 1 to add')
  })
})

describe('the targets that code knows', () => {
  it('are named without a model, and what the request removes is among them', async () => {
    const repo_uri = await appliedRepository(stack, {
      'main.tf': MAIN + resource('other'),
      'kept.tf': resource('kept'),
    })
    const scripts = {
      task_complete: [write('main.tf', MAIN.replace('hello', 'hi')), write('second.tf', ADDED), done('Done.')],
      [CHAIN]: { error: new Error('nobody asks for targets') },
    }
    const { iac, plans } = watched(stack)
    const request = { repo_uri, query: 'Say hi, add a second greeting, and remove the other one' }
    const { llm, session } = await runGenerate(stack, scripts, { iac, request })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of(CHAIN)).toEqual([])
    const changed = ['terraform_data.greeting', 'terraform_data.other', 'terraform_data.second']
    expect(plans()[0]?.toSorted()).toEqual(changed)
    expect((await textsOf(stack, session.uuid, 'plan'))[0]).toContain('Plan: 1 to add, 1 to change, 1 to destroy.')
    expect(await outsideOf(session)).toBe(NONE)
  })

  const using = (code: string) => resource('user').replace('"user"\n}', `${code}\n}`)
  it.each([
    ['makes the instances of what did not change', using('1\n  count = length(local.word)'), 1, true],
    ['is the value of what did not change', using('local.word'), 0, true],
    ['is used by nothing else', MAIN, 0, false],
  ])('are asked for only when code cannot tell them: a changed local that %s', async (_, user, asked, isUsed) => {
    const local = (value: string) => `locals {\n  word = "${value}"\n}\n`
    const repo_uri = await appliedRepository(stack, { 'main.tf': local('a'), 'user.tf': user })
    const scripts = {
      task_complete: [write('main.tf', local('b')), write('second.tf', ADDED), done('Another word.')],
      [CHAIN]: targets('terraform_data.user', 'terraform_data.second'),
    }
    const { llm, session } = await runGenerate(stack, scripts, { request: { repo_uri } })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of(CHAIN)).toHaveLength(asked)
    const [planned] = (await storedRound(session.uuid)).targets
    const own = 'terraform_data.second'
    expect(planned?.toSorted()).toEqual(isUsed ? [own, 'terraform_data.user'] : [own])
  })

  it('are the whole root, planned once, when the session wrote everything', async () => {
    const { iac, plans } = watched(stack)
    const scripts = {
      task_complete: [write('main.tf', SETTINGS + MAIN), write('second.tf', ADDED), done('Two greetings.')],
    }
    const request = { files: { 'README.md': '# New\n' } }
    const { llm, session } = await runGenerate(stack, scripts, { iac, request })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of(CHAIN)).toEqual([])
    expect(plans()).toEqual([[]])
    expect((await textsOf(stack, session.uuid, 'plan'))[0]).toContain('Plan: 2 to add, 0 to change, 0 to destroy.')
  })

  it('leave out what the state has and no code, also when the session wrote everything, and the report says so', async () => {
    const repo_uri = await stack.repository({ 'README.md': '# New\n' })
    await (await engineBeside(stack, repo_uri)).editState(() => STATE)
    const { iac, plans } = watched(stack)
    const { llm, session } = await runGenerate(stack, {}, { iac, request: { repo_uri } })
    expect(session.statuses.at(-1)).toBe('completed')
    expect(llm.of(CHAIN)).toEqual([])
    expect(plans()).toEqual([[], ['terraform_data.second'], []])
    expect((await textsOf(stack, session.uuid, 'plan'))[0]).toContain('Plan: 1 to add, 0 to change, 0 to destroy.')
    expect((await storedRound(session.uuid)).targets[0]).toEqual(['terraform_data.second'])
    expect(await outsideOf(session)).toContain('- delete terraform_data.greeting')
  })
})

const NONE = 'A plan of the whole root changes nothing outside the targets.'

const outsideOf = ({ uuid }: SessionView) => impactPoint(stack, uuid, 'Outside the targets')

it('a targeted plan comes with the changes that others have pending in the same root', async () => {
  const repo_uri = await appliedRepository(stack, undefined, (state) =>
    state.replaceAll('"hello"', '"changed by hand"'),
  )
  const { llm, session } = await runGenerate(stack, {}, { orchestration: GATES, request: { repo_uri } })
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await outsideOf(session)).toBe(
    'A plan of the whole root would also make a change that this plan leaves out:\n- update terraform_data.greeting',
  )
  expect(said(llm.of('report_compliance_findings')[0])).toContain('Not part of this plan, for information only')
  expect(readdirSync(planPath(stack, session.uuid)).filter((name) => name.endsWith('.plan'))).toEqual(['session.plan'])
  const text = await pullRequestText(stack, session.uuid, repo_uri)
  expect(text).toMatch(
    /^> The plan was not checked against the request: [^\n]+\n\nFor the logs\.\n\n## Plan\n\n\*\*1 to create, 0 to update, 0 to delete, 0 to recreate\*\* \(round 1, planned /,
  )
  expect(text).toContain('| create | `terraform_data.second` | A second greeting. |')
  expect(text).toContain('**Passed** (round 1): no findings.')
  expect(text).toMatch(
    /- Only 1 target and what it depends on were planned: `terraform_data.second`\.\n- The engine planned at .+ on commit `[0-9a-f]{12}`/,
  )
  expect(text).toMatch(/- \d+ values? of the plan (is|are) known only after apply/)
  expect(text).toContain('that this plan leaves out:\n\n- update `terraform_data.greeting`')
  expect(text).toContain('The plan destroys and recreates nothing.')
})

it('a worker that stops while the whole root is planned hands the round back; it is run again and ends as usual', async () => {
  const repo_uri = await appliedRepository(stack)
  const stop = new AbortController()
  const { iac } = stack.context(scriptedLlm({}))
  const run: typeof iac.run = async (kind, body, options) => {
    if (kind === 'plan' && 'targets' in body && body.targets?.length === 0) stop.abort(STOPPING)
    return await iac.run(kind, body, options)
  }
  const options = { iac: { ...iac, run }, request: { repo_uri }, signal: stop.signal }
  const { session: stopped } = await runGenerate(stack, {}, options)
  expect(stopped.in_flight).toBe(true)
  expect(await textsOf(stack, stopped.uuid, 'report')).toEqual([])
  const session = await runWaiting(stack, stack.context(goodLlm()), stopped.uuid)
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await outsideOf(session)).toBe(NONE)
})
