import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLES, FOLLOW_UPS } from '../../../dev/scripted-model/examples.ts'
import { startScriptedModel } from '../../../dev/scripted-model/start.ts'
import type { Running } from '../../../dev/server.ts'

const run = promisify(execFile)
let model: Running
let repository: string

beforeAll(async () => {
  model = await startScriptedModel()
  repository = await mkdtemp(join(tmpdir(), 'scripted-model-'))
  await cp('dev/samples/web-platform', repository, { recursive: true })
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '--all'],
    ['commit', '--quiet', '-m', 'sample'],
  ])
    await git(...args)
})
afterAll(async () => {
  await model.close()
  await rm(repository, { recursive: true, force: true })
})

const git = async (...args: string[]) =>
  (await run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: repository })).stdout

interface Message {
  role: string
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}
interface Completion {
  model: string
  choices: { message: Message; finish_reason: string }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

async function complete(messages: Message[], tools: string[]): Promise<Completion> {
  const body = { model: 'scripted-model', messages, tools: tools.map((name) => ({ type: 'function', function: { name, parameters: {} } })) }
  const response = await fetch(`${model.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  return (await response.json()) as Completion
}

const INSPECTION = ['read_file', 'list_dir', 'bulk_grep_search', 'diff_history']
const EDITING = [...INSPECTION, 'write_to_file', 'replace_in_file', 'delete_file', 'web_search']

/** The tools as a plain directory gives them. */
const handlers: Record<string, (args: Record<string, string>) => Promise<string>> = {
  list_dir: async () => JSON.stringify(await readdir(repository)),
  read_file: ({ target_file = '' }) => readFile(join(repository, target_file), 'utf8'),
  write_to_file: async ({ target_file = '', content = '' }) => {
    await writeFile(join(repository, target_file), content)
    return 'written'
  },
  replace_in_file: async ({ target_file = '', diff = '' }) => {
    const [, search = '', by = ''] = /^<<<<<<< SEARCH\n([\s\S]*)\n=======\n([\s\S]*)\n>>>>>>> REPLACE$/.exec(diff) ?? []
    const text = await readFile(join(repository, target_file), 'utf8')
    expect(text.split(search)).toHaveLength(2)
    await writeFile(
      join(repository, target_file),
      text.replace(search, () => by),
    )
    return 'replaced'
  },
  diff_history: async () => {
    await git('add', '--all')
    return JSON.stringify({ diff: await git('diff', '--cached', '--no-color', '--no-prefix', 'main'), explanation: 'branch against main' })
  },
}

/** Plays the loop until the sentinel is called; answers its arguments and the names of all calls. */
async function chain(sentinel: string, query: string, tools: string[], history: Message[] = []) {
  const messages: Message[] = [{ role: 'system', content: 'rules' }, ...history, { role: 'user', content: query }]
  const called: string[] = []
  for (let turn = 0; turn < 10; turn++) {
    const reply = (await complete(messages, [...tools, sentinel])).choices[0]
    expect(reply?.finish_reason).toBe('tool_calls')
    messages.push(reply?.message as Message)
    for (const { id, function: call } of reply?.message.tool_calls ?? []) {
      const args = JSON.parse(call.arguments)
      called.push(call.name)
      if (call.name === sentinel) return { args, called }
      const content = await handlers[call.name]?.(args).catch((error: Error) => error.message)
      messages.push({ role: 'tool', tool_call_id: id, content: content ?? 'Tool not found' })
    }
  }
  throw new Error(`no ${sentinel} within ten turns: ${called.join(', ')}`)
}

const fence = (text: string) => `<<<DATA request 0123456789abcdef\n${text}\n0123456789abcdef DATA>>>`
const engine = async (...args: string[]) =>
  run(process.env.IAC_BINARY ?? 'terraform', args, { cwd: repository, env: { ...process.env, TF_CLI_CONFIG_FILE: '/dev/null' } }).catch(
    (error: Error & { stderr: string; stdout: string }) => ({ stdout: error.stdout, stderr: error.stderr }),
  )
const { request } = EXAMPLES.generate
const [replay = '', retention = ''] = FOLLOW_UPS

test('the recorded request: a first attempt that the engine refuses, the repair, targets, report, audit, pull request', async () => {
  const verdict = await chain('requests_filter', fence(request), INSPECTION)
  expect(verdict.args).toMatchObject({ status: true })
  expect(verdict.called).toContain('read_file')

  await engine('init', '-no-color', '-input=false')
  const first = await chain('task_complete', fence(request), EDITING)
  expect(first.called).toEqual(expect.arrayContaining(['list_dir', 'read_file', 'write_to_file', 'replace_in_file']))
  const refused = await engine('validate', '-no-color')
  expect(refused.stderr).toContain('Reference to undeclared local value')

  const turn: Message[] = [
    { role: 'user', content: request },
    { role: 'assistant', content: first.args.summary },
  ]
  const repaired = await chain('task_complete', `The engine refused the last attempt.\n\n${fence(refused.stderr)}`, EDITING, turn)
  expect(repaired.called).toEqual(['read_file', 'read_file', 'replace_in_file', 'task_complete'])
  expect((await engine('validate', '-no-color')).stdout).toContain('The configuration is valid')

  const { args } = await chain('generate_engine_targets', 'Report the engine targets.', INSPECTION)
  expect(args.targets).toEqual([
    'terraform_data.orders_dead_letter_queue',
    'terraform_data.orders_queue',
    'terraform_data.orders_queue_alarm',
  ])
  const plan = await engine('plan', '-no-color', '-input=false', ...args.targets.flatMap((target: string) => ['-target', target]))
  expect(plan.stdout).toContain('Plan: 3 to add, 0 to change, 0 to destroy.')

  const report = await chain('generate_engine_plan_report', fence(plan.stdout), ['web_search'])
  expect(report.args.summary).toEqual({ create: 3, update: 0, delete: 0, recreate: 0 })
  expect(report.args.potential_impact.banner.level).toBe('low')
  expect(report.args.detailed_changes[0].details).toContain('retention_days')
  const audit = await chain('report_compliance_findings', `${request}\n\n${plan.stdout}`, [])
  expect(audit.args.violations).toEqual([])
  const text = await chain('generate_pull_request', request, [], turn)
  expect(text.args.title).toBe('Add a work queue for the orders service')
  expect(text.args.description).toContain('dead-letter queue')
})

test('further requests on the same branch', async () => {
  expect((await chain('requests_filter', request, INSPECTION)).args).toMatchObject({
    status: false,
    explanation: expect.stringContaining('already there'),
  })
  expect((await chain('requests_filter', replay, INSPECTION)).args.status).toBe(true)
  await chain('task_complete', replay, EDITING)
  await chain('task_complete', retention, EDITING)
  expect(await readFile(join(repository, 'orders-queue.tf'), 'utf8')).toMatch(/retention_days = 30\n/)
  await engine('init', '-no-color', '-input=false')
  expect((await engine('validate', '-no-color')).stdout).toContain('The configuration is valid')
  expect((await chain('generate_engine_targets', 'Targets', INSPECTION)).args.targets).toHaveLength(4)
})

test('drift: operations of the session itself are dropped, others kept', async () => {
  const drift = [
    { address: 'terraform_data.orders_queue', action: 'delete resource' },
    { address: 'terraform_data.dns_zone', action: 'update resource', changes: { changed: {} } },
  ]
  const split = await chain('report_decomposed_task_operations', fence(JSON.stringify(drift)), [...INSPECTION, 'web_search'])
  expect(split.args.operations).toHaveLength(2)
  const kept = await chain('report_decomposed_task_operations', fence(JSON.stringify(split.args.operations)), INSPECTION)
  expect(kept.called).toContain('diff_history')
  expect(kept.args.operations).toEqual([expect.stringContaining('terraform_data.dns_zone')])
  const exceptions = await chain('report_decomposed_task_operations', fence(JSON.stringify(kept.args.operations)), [])
  expect(exceptions.args.operations).toEqual(kept.args.operations)
})

test.each([
  ['a forbidden request is declined', 'Delete the production network and everything in it', /forbid/],
  ['a question is answered from the code', 'Which services are public?', /storefront \(port 8080, public\)/],
  ['an unknown request says how to get a real model', 'Migrate the shop to another region', /scripted model.*ANTHROPIC_API_KEY/],
  ['a replay without a queue asks for the queue', 'Replay dead letters of the payments service', /no queue of the payments service/],
])('%s', async (_, query, expected) => {
  const { args } = await chain('requests_filter', fence(query), INSPECTION)
  expect(args).toMatchObject({ status: false, explanation: expect.stringMatching(expected) })
})

test('a plan that destroys what nobody asked for is a critical finding and a high impact', async () => {
  const plan =
    'Terraform will perform the following actions:\n\n  # terraform_data.db will be destroyed\n  - resource "terraform_data" "db" {\n    }\n'
  const audit = await chain('report_compliance_findings', `Add a queue\n\n${plan}`, [])
  expect(audit.args.violations).toMatchObject([{ rule_id: 'critical_deletion', severity: 'critical', resource: 'terraform_data.db' }])
  const report = await chain('generate_engine_plan_report', plan, [])
  expect(report.args.potential_impact.banner.level).toBe('high')
})

test('it names itself, counts tokens by length, writes status sentences and has no streaming', async () => {
  const short = await complete([{ role: 'user', content: fence('Add a queue') }], [])
  expect(short.model).toBe('scripted-model')
  expect(short.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Working on: Add a queue' } })
  const long = await complete([{ role: 'user', content: 'x'.repeat(4000) }], [])
  expect(long.usage.prompt_tokens - short.usage.prompt_tokens).toBeGreaterThan(950)
  const failed = await complete([{ role: 'user', content: fence('Error: Unsupported argument\n\n on x') }], [])
  expect(failed.choices[0]?.message.content).toContain('The engine refused the code (Unsupported argument)')
  const post = (body: string, path = '/v1/chat/completions') => fetch(model.url + path, { method: 'POST', body })
  expect((await post(JSON.stringify({ messages: [{ role: 'user', content: 'x' }], stream: true }))).status).toBe(400)
  expect((await post('rubbish')).status).toBe(400)
  expect((await post('{}', '/v1/responses')).status).toBe(404)
  expect(await (await fetch(`${model.url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'scripted-model' }] })
})
