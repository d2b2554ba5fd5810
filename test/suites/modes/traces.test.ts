import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ReceivedSpan } from '../../../dev/collector/read-spans.ts'
import { type Collector, startCollector } from '../../../dev/collector/start.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { Context } from '../../../src/context.ts'
import type { Tracing } from '../../../src/observe/tracing.ts'
import { createTracing } from '../../../src/observe/tracing.ts'
import { createPromptRegistry } from '../../../src/prompts/registry.ts'
import { createRegistryPrompts } from '../../../src/prompts/source.ts'
import { createPullRequest } from '../../../src/pull-requests/create.ts'
import { openPrompts } from '../../../src/runtime/prompts.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { trust } from '../../repository/support.ts'
import { applyLlm, applyRound } from './apply-world.ts'
import { done, GATES, goodLlm, goodRound, MAIN, SETTINGS, write } from './scripts.ts'
import { firstRound, runGenerate, startStack } from './stack.ts'

const stack = startOnce(startStack)
let collector: Collector
beforeAll(async () => {
  trust(stack.git_host.caPem)
  collector = await startCollector()
})
const tracings: Tracing[] = []
afterEach(async () => {
  for (const tracing of tracings.splice(0)) await tracing.close(50)
})
afterAll(() => collector.close())

function openTracing(): Tracing {
  const config = { ...stack.config, telemetry: { ...stack.config.telemetry, collector_url: collector.collector_url } }
  const tracing = createTracing(config, { fetch, log: silentLogger, write: () => {} })
  if (!tracing) throw new Error('no tracing was asked for')
  tracings.push(tracing)
  return tracing
}
const spansOf = async (tracing: Tracing, uuid: string): Promise<ReceivedSpan[]> => {
  await tracing.close(10_000)
  return collector.spans.ofSession(uuid)
}
const roots = (spans: readonly ReceivedSpan[]) =>
  spans.filter(({ parent_id }) => parent_id === null).map(({ name }) => name)

describe('a generate round', () => {
  it('leaves its chains and engine runs, the refused plan with its reason and without its secrets', async () => {
    const secret = 'Correct-Horse-Battery-7'
    const variable = `variable "password" {\n  type      = string\n  sensitive = true\n  default   = "${secret}"\n}\n`
    const broken = `resource "terraform_data" "second" {\n  input = local.missing\n}\n`
    const good = `${SETTINGS}resource "terraform_data" "second" {\n  input = var.password\n}\n`
    const tracing = openTracing()
    const scripts = goodRound({
      task_complete: [write('second.tf', broken), done(`Wrote ${secret}.`), write('second.tf', good), done('Mended.')],
    })
    const context = stack.context(scriptedLlm(scripts), { tracing, orchestration: GATES })
    const session = await firstRound(stack, context, {
      repo_uri: await stack.repository({ 'main.tf': MAIN, 'variables.tf': variable }),
      // Code without a cloud provider needs reference material only where the request names the cloud.
      query: 'Add a second greeting on AWS',
    })
    expect(session.statuses.at(-1)).toBe('completed')
    const spans = await spansOf(tracing, session.uuid)
    expect(new Set(spans.map(({ project }) => project))).toEqual(new Set(['dev-engine-day2']))
    expect(roots(spans)).toEqual(
      expect.arrayContaining([
        'Chain - STATUS_UPDATE',
        'Chain - REQUESTS_FILTER',
        'Chain - PROMPT_COMPOSITOR',
        'Chain - IAC_GENERATOR',
        'Chain - TARGET_GENERATOR',
        'Engine plan - False',
        'Engine plan - True',
        'Engine drift - True',
        'Chain - REPORT_GENERATOR',
        'Chain - COMPLIANCE_CHECKER',
      ]),
    )
    const failed = spans.find(({ name }) => name === 'Engine plan - False')
    expect(failed?.attributes).toMatchObject({
      // The engine refuses the code before the targets are requested.
      'input.value': '[]',
      'openinference.span.kind': 'EVALUATOR',
    })
    expect(failed?.attributes['output.value']).toMatch(/undeclared local value/)
    expect([failed?.status, failed?.status_message]).toEqual([
      'error',
      expect.stringContaining('undeclared local value'),
    ])
    const planned = spans.find(({ name }) => name === 'Engine plan - True')
    expect(planned?.attributes['output.value']).toContain('Plan: 1 to add')
    expect(spans.find(({ name }) => name === 'Chain - IAC_GENERATOR')?.attributes['output.value']).toBe(
      'Wrote (sensitive value).',
    )
    expect(JSON.stringify(spans)).not.toContain(secret)
    expect(JSON.stringify(spans)).not.toContain('token-of-the-git-host')
  })

  it('goes on to its pull request and its apply in the same project', async () => {
    const generate = openTracing()
    const { session } = await runGenerate(stack, {}, { tracing: generate })
    await spansOf(generate, session.uuid)

    const core = openTracing()
    const generate_pull_request = { args: { title: 'A second greeting', description: 'It greets twice.' } }
    await createPullRequest(stack.context(scriptedLlm({ generate_pull_request }), { tracing: core }), session.uuid)
    const written = (await spansOf(core, session.uuid)).find(({ name }) => name === 'Chain - PR_GENERATOR')
    expect(written).toMatchObject({ project: 'dev-engine-day2', attributes: { 'output.value': 'It greets twice.' } })

    const apply = openTracing()
    await applyRound(stack, stack.context(applyLlm(), { tracing: apply }), session.uuid)
    const applied = (await spansOf(apply, session.uuid)).find(({ name }) => name.startsWith('Engine apply'))
    expect(applied).toMatchObject({ name: 'Engine apply - True', project: 'dev-engine-day2', parent_id: null })
    expect(applied?.attributes).toMatchObject({
      'input.value': '',
      'output.value': expect.stringContaining('Apply complete!'),
    })
  })
})

describe('prompts from a registry', () => {
  const withRegistry = async (llm: ReturnType<typeof scriptedLlm>): Promise<Context> => {
    const telemetry = { ...stack.config.telemetry, collector_url: collector.collector_url }
    await openPrompts({ ...stack.config, telemetry }, 'core', { fetch, log: silentLogger })
    const registry = createPromptRegistry({ url: collector.collector_url, api_key: '' }, { fetch, backoffMs: 1 })
    return stack.context(llm, { prompts: createRegistryPrompts(registry, 'development') })
  }
  const round = async (context: Context) =>
    firstRound(stack, context, { repo_uri: await stack.repository({ 'main.tf': MAIN }) })
  const edit = (name: string, text: string) => {
    const { id } = collector.prompts.add(name, '', {
      model_name: 'mine',
      template: { type: 'chat', messages: [{ role: 'user', content: text }] },
    })
    collector.prompts.tag(id, 'development')
  }

  it('reach the model as an operator wrote them, from the next round on', async () => {
    const llm = goodLlm()
    const context = await withRegistry(llm)
    expect((await round(context)).statuses.at(-1)).toBe('completed')
    edit('general-guidelines-requests', 'Be kind to every request.')
    expect((await round(context)).statuses.at(-1)).toBe('completed')
    const systems = llm.of('requests_filter').map(({ messages }) => messages[0]?.content)
    expect(systems.map((text) => text?.includes('Be kind to every request.'))).toEqual([false, true])
  })
})
