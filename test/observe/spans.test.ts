import { describe, expect, it } from 'vitest'
import { type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { askText, runAgent } from '../../src/agent/run-agent.ts'
import { iacGenerator } from '../../src/chains/iac-generator.ts'
import type { RunTrace } from '../../src/observe/run-trace.ts'
import { createSecretRegister } from '../../src/plan/sensitive.ts'
import { type Script, scriptedLlm } from '../pipeline/steps/scripted-llm.ts'
import { named, PLAIN, type Recording, record, SESSION } from './support.ts'

const readFile: Tool = {
  definition: {
    name: 'read_file',
    description: 'Reads.',
    parameters: { type: 'object', properties: { target_file: { type: 'string' } } },
  },
  run: ({ target_file }) => {
    if (target_file === 'main.tf') return 'content of main.tf'
    throw new ToolError('File x does not exist')
  },
}
const read = (target_file: string) => ({ calls: [['read_file', { target_file }] as [string, Record<string, unknown>]] })
const done = { args: { status: 'done', summary: 'Nothing was to be done.' } }

const agent = (trace: RunTrace, script: Script | Script[], more: { system?: string; query?: string } = {}) =>
  runAgent({
    llm: scriptedLlm({ task_complete: script }),
    chain: 'IAC_GENERATOR',
    role: 'main',
    system: more.system ?? 'You write code.',
    query: more.query ?? 'Add a bucket',
    conversation: [{ user: 'earlier', assistant: 'answer' }],
    tools: [readFile],
    resultTool: iacGenerator.resultTool(),
    maxTurns: 4,
    signal: new AbortController().signal,
    trace,
  })
const traceOf = async ({ tracing }: Recording, session = SESSION) => (await tracing.session(session)).masked(PLAIN)

describe('a chain', () => {
  it('is a root with its model and tool calls below it', async () => {
    const recording = await record()
    await agent(await traceOf(recording), [read('main.tf'), read('nowhere.tf'), done])
    const spans = await recording.spans()
    expect(recording.posts.map(({ url }) => url)).toEqual(['http://phoenix:6006/v1/traces'])
    expect(recording.posts[0]?.headers.get('content-type')).toBe('application/x-protobuf')
    const chain = named(spans, 'Chain - IAC_GENERATOR')
    expect(chain).toMatchObject({
      parent_id: null,
      project: 'dev-engine-day2',
      resource: { 'openinference.project.name': 'dev-engine-day2' },
      status: 'ok',
    })
    expect(Object.keys(chain.resource)).toEqual(['openinference.project.name'])
    const children = spans.filter((span) => span !== chain)
    expect(children.map(({ name }) => name)).toEqual([
      ...['Async Inference', 'Tool call - read_file', 'Async Inference', 'Tool call - read_file'],
      ...['Async Inference', 'Tool call - task_complete'],
    ])
    for (const child of children) {
      expect([child.parent_id, child.trace_id]).toEqual([chain.span_id, chain.trace_id])
      expect(child.start_ms).toBeGreaterThanOrEqual(chain.start_ms - 1)
      expect(child.end_ms).toBeLessThanOrEqual(chain.end_ms + 1)
    }
    expect(chain.attributes).toMatchObject({
      'openinference.span.kind': 'AGENT',
      'input.value': 'Add a bucket',
      'output.value': 'Nothing was to be done.',
    })
  })

  it('says on every span whose it is', async () => {
    const recording = await record()
    await agent(await traceOf(recording), [read('main.tf'), done])
    for (const { attributes } of await recording.spans()) {
      expect(attributes).toMatchObject({ 'session.id': SESSION.uuid, 'user.id': 'owner@example.org' })
      expect(JSON.parse(String(attributes.metadata))).toEqual({
        session_id: SESSION.uuid,
        user_id: 'owner@example.org',
        cloud: 'AWS',
        repo_uri: 'https://git.example.org/o/r',
        iac_path: 'environments/dev',
        branch_name: 'Platform/2026-01-31_235959-1a2b',
        chain_type: 'IAC_GENERATOR',
      })
    }
  })

  it('shows the whole of a model call', async () => {
    const recording = await record(
      'llm: {model: anthropic/claude-x, prices: {"test/model": {input: 10, cached_input: 1, output: 100}}}',
    )
    await agent(await traceOf(recording), [read('main.tf'), done])
    const [, second] = (await recording.spans()).filter(({ name }) => name === 'Async Inference')
    const input = (index: number, key: string) => second?.attributes[`llm.input_messages.${index}.message.${key}`]
    expect([input(0, 'role'), input(0, 'content')]).toEqual(['system', 'You write code.'])
    expect([input(1, 'content'), input(2, 'role'), input(3, 'content')]).toEqual([
      'earlier',
      'assistant',
      'Add a bucket',
    ])
    const call = 'tool_calls.0.tool_call'
    expect([input(4, `${call}.function.name`), input(4, `${call}.function.arguments`)]).toEqual([
      'read_file',
      '{"target_file":"main.tf"}',
    ])
    expect([input(5, 'role'), input(5, 'content'), input(5, 'tool_call_id')]).toEqual([
      'tool',
      'content of main.tf',
      input(4, `${call}.id`),
    ])
    expect(second).toMatchObject({
      status: 'ok',
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.model_name': 'test/model',
        'llm.provider': 'test',
        'llm.token_count.prompt': 100,
        'llm.token_count.completion': 10,
        'llm.token_count.total': 110,
        'llm.cost.total': (60 * 10 + 40 * 1 + 10 * 100) / 1e6,
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'task_complete',
      },
    })
    const attributes = second?.attributes ?? {}
    expect(JSON.parse(String(attributes['llm.invocation_parameters']))).toEqual({
      ...{ model: 'anthropic/claude-x', max_tokens: 32_000, temperature: 0.1, tool_choice: 'auto' },
    })
    expect(JSON.parse(String(attributes['llm.tools.0.tool.json_schema']))).toMatchObject({
      type: 'function',
      function: { name: 'read_file' },
    })
    expect(JSON.parse(String(attributes['llm.tools.1.tool.json_schema']))).toMatchObject({
      function: { name: 'task_complete' },
    })
    expect(String(attributes['output.value'])).toContain('task_complete')
  })

  it('shows tool calls, refused ones as errors', async () => {
    const recording = await record()
    await agent(await traceOf(recording), [
      read('main.tf'),
      read('nowhere.tf'),
      { calls: [['no_such_tool', {}]] },
      done,
    ])
    const tools = (await recording.spans()).filter(({ name }) => name.startsWith('Tool call'))
    expect(tools.map(({ name, status }) => [name, status])).toEqual([
      ['Tool call - read_file', 'ok'],
      ['Tool call - read_file', 'error'],
      ['Tool call - no_such_tool', 'error'],
      ['Tool call - task_complete', 'ok'],
    ])
    const [good, bad, unknown] = tools
    expect(good?.attributes).toMatchObject({
      'openinference.span.kind': 'TOOL',
      'tool.name': 'read_file',
      'tool.parameters': '{"target_file":"main.tf"}',
      'input.value': '{"target_file":"main.tf"}',
    })
    const id = good?.attributes['tool.id']
    expect(id).toEqual(expect.any(String))
    const output = { name: 'read_file', tool_call_id: id, success: true, error_message: null }
    expect(JSON.parse(String(good?.attributes['output.value']))).toEqual({ ...output, result: 'content of main.tf' })
    expect(bad?.status_message).toBe('File x does not exist')
    expect(JSON.parse(String(bad?.attributes['output.value']))).toMatchObject({
      success: false,
      result: null,
      error_message: 'File x does not exist',
    })
    expect(unknown?.status_message).toMatch(/^Tool no_such_tool not found\. The tools are: `/)
  })

  it('that fails ends with the reason, and so does the call that failed', async () => {
    const recording = await record()
    const fault = new Error('Inference call to test/model failed: overloaded')
    await expect(agent(await traceOf(recording), { error: fault })).rejects.toThrow(fault)
    const spans = await recording.spans()
    const reason = { status: 'error', status_message: fault.message }
    expect(named(spans, 'Chain - IAC_GENERATOR')).toMatchObject({
      ...reason,
      attributes: { 'input.value': 'Add a bucket' },
    })
    expect(named(spans, 'Async Inference')).toMatchObject({
      ...reason,
      attributes: { 'llm.model_name': 'anthropic/claude-sonnet-5' },
    })
  })

  it('that runs out of turns ends with the reason although every call went well', async () => {
    const recording = await record()
    await expect(agent(await traceOf(recording), { text: 'still thinking' })).rejects.toThrow('ToolExecutionsExceeded')
    const spans = await recording.spans()
    expect(named(spans, 'Chain - IAC_GENERATOR').status_message).toMatch(/^ToolExecutionsExceeded/)
    expect(spans.filter(({ status }) => status === 'ok')).toHaveLength(4)
  })

  it('that is cancelled ends', async () => {
    const recording = await record()
    const controller = new AbortController()
    const trace = await traceOf(recording)
    const llm = scriptedLlm({ status: 'hang' })
    const text = askText({ llm, chain: 'STATUS_UPDATE', role: 'small', query: 'x', signal: controller.signal, trace })
    controller.abort(new Error('the round is over'))
    await expect(text).rejects.toThrow('the round is over')
    expect((await recording.spans()).map(({ name, status_message }) => [name, status_message])).toEqual([
      ['Async Inference', 'the round is over'],
      ['Chain - STATUS_UPDATE', 'the round is over'],
    ])
  })

  it('of plain text shows it', async () => {
    const recording = await record()
    const llm = scriptedLlm({ status: { text: ' One sentence. ' } })
    const signal = new AbortController().signal
    await askText({ llm, chain: 'STATUS_UPDATE', role: 'small', query: 'raw', signal, trace: await traceOf(recording) })
    const spans = await recording.spans()
    expect(named(spans, 'Chain - STATUS_UPDATE').attributes).toMatchObject({
      'input.value': 'raw',
      'output.value': 'One sentence.',
    })
    const { attributes } = named(spans, 'Async Inference')
    expect(attributes['output.value']).toBe(' One sentence. ')
    expect(JSON.parse(String(attributes['llm.invocation_parameters']))).not.toHaveProperty('tool_choice')
  })
})

describe('projects', () => {
  it.each([
    ['development', 'generate', 'dev-engine-day2'],
    ['development', 'drift', 'dev-engine-drift'],
    ['development', 'import', 'dev-engine-import'],
    ['staging', 'generate', 'pre-engine-day2'],
    ['staging', 'drift', 'pre-engine-drift'],
    ['staging', 'import', 'pre-engine-import'],
    ['production', 'generate', 'pro-engine-day2'],
    ['production', 'drift', 'pro-engine-drift'],
    ['production', 'import', 'pro-engine-import'],
  ] as const)('%s %s is %s', async (environment, operation, project) => {
    const recording = await record(`environment: ${environment}`)
    const trace = await traceOf(recording, { ...SESSION, operation, provider: 'kubernetes' })
    trace.engine('apply', '').end(true, 'Apply complete!')
    const span = named(await recording.spans(), 'Engine apply - True')
    expect(span.project).toBe(project)
    expect(JSON.parse(String(span.attributes.metadata)).cloud).toBe('K8S')
  })
})

describe('engine spans', () => {
  it('stand alone and carry how it went in their name', async () => {
    const recording = await record()
    const trace = await traceOf(recording)
    trace.engine('plan', '["a.b"]').end(false, 'Error: no such thing')
    trace.engine('plan', '["a.b"]').end(true, 'Plan: 1 to add')
    trace.engine('drift', 'plan').fail(new Error('lost'))
    const spans = await recording.spans()
    expect(spans.every(({ parent_id }) => parent_id === null)).toBe(true)
    expect(new Set(spans.map(({ trace_id }) => trace_id)).size).toBe(3)
    const kind = { 'openinference.span.kind': 'EVALUATOR' }
    expect(named(spans, 'Engine plan - False')).toMatchObject({
      ...{ status: 'error', status_message: 'Error: no such thing' },
      attributes: { ...kind, 'input.value': '["a.b"]', 'output.value': 'Error: no such thing' },
    })
    expect(named(spans, 'Engine plan - True')).toMatchObject({
      status: 'ok',
      attributes: { ...kind, 'output.value': 'Plan: 1 to add' },
    })
    expect(named(spans, 'Engine drift - False')).toMatchObject({
      status: 'error',
      attributes: { 'output.value': 'lost' },
    })
    expect(JSON.parse(String(spans[0]?.attributes.metadata))).not.toHaveProperty('chain_type')
  })
})

describe('the attribute limit', () => {
  it('drops the oldest and says how many', async () => {
    const recording = await record('telemetry: {otel_attribute_count_limit: 20}')
    await agent(await traceOf(recording), [read('main.tf'), done])
    const spans = await recording.spans()
    const [, second] = spans.filter(({ name }) => name === 'Async Inference')
    const keys = Object.keys(second?.attributes ?? {})
    expect(keys).toHaveLength(20)
    expect(second?.droppedAttributes).toBeGreaterThan(0)
    expect(keys).not.toContain('llm.input_messages.0.message.role')
    expect(keys).toEqual(
      expect.arrayContaining([
        'session.id',
        'user.id',
        'metadata',
        'openinference.span.kind',
        'output.value',
        'llm.model_name',
      ]),
    )
    expect(named(spans, 'Chain - IAC_GENERATOR').droppedAttributes).toBe(0)
  })

  it.each([
    [1, ['session.id']],
    [2, ['user.id', 'session.id']],
  ])('of %i keeps what tells whose the span is', async (limit, keys) => {
    const recording = await record(`telemetry: {otel_attribute_count_limit: ${limit}}`)
    await agent(await traceOf(recording), [read('main.tf'), done])
    for (const span of await recording.spans()) expect(Object.keys(span.attributes)).toEqual(keys)
  })
})

describe('masking', () => {
  it('hides what the run learned until a span ended, and every secret of the configuration', async () => {
    const recording = await record('', { env: { GIT_TOKEN: 'token-of-the-git-host' } })
    const register = createSecretRegister()
    const session = await recording.tracing.session({
      ...SESSION,
      workspace: { ...SESSION.workspace, branch: 'b-learned-on-the-way' },
    })
    const trace = session.masked(register)
    const learn: Script = () => {
      register.add(['learned-on-the-way'])
      return { calls: [['read_file', { target_file: 'learned-on-the-way' }]] }
    }
    const system = 'token-of-the-git-host'
    await agent(trace, [learn, { text: '', raw: 'content_filter', finish: 'content_filter' }], {
      system,
      query: 'use learned-on-the-way',
    }).catch(() => {})
    trace.engine('plan', '').end(false, 'Error: "learned-on-the-way" is wrong')
    const spans = await recording.spans()
    expect(spans).toHaveLength(5)
    expect(JSON.stringify(spans)).not.toContain('learned-on-the-way')
    expect(JSON.stringify(spans)).not.toContain('token-of-the-git-host')
    expect(named(spans, 'Chain - IAC_GENERATOR').attributes['input.value']).toBe('use (sensitive value)')
    expect(named(spans, 'Engine plan - False').status_message).toBe('Error: "(sensitive value)" is wrong')
  })
})

describe('the console exporter', () => {
  it('prints each span as a line when it ends, also without a collector', async () => {
    const recording = await record('telemetry: {collector_url: "", otel_console_exporter: true}')
    await agent(await traceOf(recording), done)
    expect(recording.printed.map(({ span }) => span)).toEqual([
      'Async Inference',
      'Tool call - task_complete',
      'Chain - IAC_GENERATOR',
    ])
    const [call, , chain] = recording.printed
    expect(call).toMatchObject({
      project: 'dev-engine-day2',
      parent_id: chain?.span_id,
      status: 'ok',
      attributes: { 'session.id': SESSION.uuid },
    })
    expect(await recording.spans()).toEqual([])
  })

  it('prints nothing unless it is asked for', async () => {
    const recording = await record()
    await agent(await traceOf(recording), done)
    expect(recording.printed).toEqual([])
    expect(await recording.spans()).toHaveLength(3)
  })
})
