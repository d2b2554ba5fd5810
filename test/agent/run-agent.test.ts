import { describe, expect, it } from 'vitest'
import { type AgentEvent, type AgentRequest, type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { askText, runAgent } from '../../src/agent/run-agent.ts'
import { silentLogger } from '../../src/base/log.ts'
import { iacGenerator } from '../../src/chains/iac-generator.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import {
  type ModelHandler,
  modelConfig,
  provideModelServers,
  script,
  text,
  toolCall,
  toolCalls,
} from '../helpers/model-server.ts'

const serveModel = provideModelServers()

type TaskRequest = AgentRequest<{ status: string; summary: string }>

async function chain(handler: ModelHandler, more: Partial<TaskRequest> = {}) {
  const server = await serveModel(handler)
  const llm = createLlmClient(modelConfig(server.url), { fetch, log: silentLogger, backoffMs: 1 })
  const run = () =>
    runAgent({
      llm,
      chain: 'IAC_GENERATOR',
      role: 'main',
      query: 'the query',
      resultTool: iacGenerator.resultTool(),
      maxTurns: 5,
      signal: new AbortController().signal,
      ...more,
    })
  const sent = (call: number) => server.requests[call]?.body.messages ?? []
  const offered = (call: number) => server.requests[call]?.body.tools?.map((tool) => tool.function.name)
  /** Returns the contents of the tool messages in a call. */
  const answers = (call: number) =>
    sent(call)
      .filter((message) => message.role === 'tool')
      .map((message) => message.content)
  return { server, run, sent, offered, answers }
}

async function ran(...given: Parameters<typeof chain>) {
  const started = await chain(...given)
  return { ...started, result: await started.run() }
}

const done = toolCall('task_complete', { status: 'done', summary: 'all written' })

/** Makes a tool that counts its runs and returns `result`. */
function tool(
  name: string,
  result: (args: Record<string, unknown>, run: number) => unknown = () => `${name} result`,
  more: Partial<Tool> = {},
) {
  const runs: Record<string, unknown>[] = []
  const definition = { name, description: name, parameters: { type: 'object', properties: {}, required: ['target'] } }
  return { definition, run: (args: Record<string, unknown>) => result(args, runs.push(args)), runs, ...more }
}

describe('the end of a chain', () => {
  it('is the resultTool: its result is the value', async () => {
    const { run, sent, offered } = await chain(script(done), { tools: [tool('read_file')], system: 'the rules' })
    const { value, turns, usage, messages } = await run()
    expect(value).toEqual({ status: 'done', summary: 'all written', assumptions: [], left_out: [] })
    expect(turns).toBe(1)
    expect(usage).toEqual({ input_tokens: 100, cached_tokens: 40, output_tokens: 10 })
    expect(offered(0)).toEqual(['read_file', 'task_complete'])
    expect(sent(0)).toEqual([
      { role: 'system', content: 'the rules' },
      { role: 'user', content: 'the query' },
    ])
    expect(messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool'])
  })

  describe('with an edit that is refused in the same reply', () => {
    const editing = () =>
      tool(
        'replace_in_file',
        ({ target }) => {
          if (target === 'bad') throw new ToolError('does not fit')
          return 'changed'
        },
        { mutates: true },
      )
    const edit = (target: string): [string, unknown] => ['replace_in_file', { target }]
    const end: [string, unknown] = ['task_complete', { status: 'done', summary: 'all written' }]

    it.each([
      ['before it', [edit('good'), edit('bad'), end], 2],
      ['after it', [end, edit('bad')], 0],
    ])('goes on when it stands %s', async (_, calls, place) => {
      const { result, answers } = await ran(script(toolCalls(...calls), done), { tools: [editing()] })
      expect([result.turns, result.value.summary]).toEqual([2, 'all written'])
      expect(answers(1)).toContain('does not fit')
      expect(answers(1)[place]).toMatch(
        /^Not taken: `replace_in_file` of the same reply was refused, and the files are not as you report\. /,
      )
    })

    it('is accepted on the last turn, on which no tool is offered, and after an edit that was made before', async () => {
      const failing = toolCalls(edit('bad'), end)
      const { result } = await ran(script(failing), { tools: [editing()], maxTurns: 1 })
      expect(result.turns).toBe(1)
      const repeated = await ran(script(toolCalls(edit('good'), edit('good'), end)), { tools: [editing()] })
      expect([repeated.result.turns, repeated.result.messages.filter(({ role }) => role === 'tool')]).toEqual([
        1,
        [
          expect.objectContaining({ content: 'changed' }),
          expect.objectContaining({ content: expect.stringContaining('Not run again') }),
          expect.objectContaining({ content: expect.stringContaining('Received') }),
        ],
      ])
    })

    it('ends in spite of another tool that failed', async () => {
      const read = tool('read_file', () => {
        throw new ToolError('no such file')
      })
      const calls = toolCalls(['read_file', { target: 'a' }], end)
      expect((await ran(script(calls), { tools: [read, editing()] })).result.turns).toBe(1)
    })
  })

  describe('with a tool that does not exist in the same reply', () => {
    const end: [string, unknown] = ['task_complete', { status: 'done', summary: 'all written' }]
    const unknown: [string, unknown] = ['write_file', { path: 'a.tf', content: 'x' }]

    it.each([
      ['before it', [unknown, end], 1],
      ['after it', [end, unknown], 0],
    ])('goes on when it stands %s, and names the tools that exist', async (_, calls, place) => {
      const { result, answers } = await ran(script(toolCalls(...calls), done), { tools: [tool('replace_in_file')] })
      expect([result.turns, result.value.summary]).toEqual([2, 'all written'])
      expect(answers(1)).toContain('Tool write_file not found. The tools are: `replace_in_file`, `task_complete`')
      expect(answers(1)[place]).toMatch(/^Not taken: there is no tool `write_file`, and its call did nothing\. /)
    })

    it('is accepted on the last turn', async () => {
      const { result } = await ran(script(toolCalls(unknown, end)), { tools: [tool('replace_in_file')], maxTurns: 2 })
      expect(result.turns).toBe(2)
    })
  })

  it('sends the conversation before the query and leaves it as it was', async () => {
    const conversation = [
      { user: 'first', assistant: 'one' },
      { user: 'second', assistant: '' },
    ]
    const before = structuredClone(conversation)
    const { sent } = await ran(script(text('thinking'), done), { conversation })
    expect(sent(0)).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'the query' },
    ])
    expect(conversation).toEqual(before)
  })

  it('takes the result of the result tool, not of the last call, and still answers the calls after it', async () => {
    const read = tool('read_file')
    const { run } = await chain(
      script(
        toolCalls(
          ['task_complete', { status: 'done', summary: 'first' }],
          ['read_file', { target: 'a' }],
          ['task_complete', { status: 'done', summary: 'second' }],
        ),
      ),
      { tools: [read] },
    )
    const { value, messages } = await run()
    expect(value.summary).toBe('first')
    expect(read.runs).toHaveLength(1)
    expect(messages.filter((message) => message.role === 'tool')).toHaveLength(3)
  })

  it('goes on after a result tool whose arguments do not fit, telling every fault', async () => {
    const { run, answers } = await chain(script(toolCall('task_complete', { status: 1, summary: '' }), done))
    expect((await run()).turns).toBe(2)
    expect(answers(1)).toEqual([expect.stringMatching(/status: .*summary: must not be blank/)])
  })

  it('goes on after a result tool with an empty result, and takes the same call again', async () => {
    const results = ['', 'value']
    const resultTool: Tool<string> = {
      definition: { name: 'say', description: 'Says.', parameters: { type: 'object' } },
      run: () => results.shift() ?? '',
    }
    const server = await serveModel(script(toolCall('say', {})))
    const llm = createLlmClient(modelConfig(server.url), { fetch, log: silentLogger })
    const answer = await runAgent({
      llm,
      chain: 'PR_GENERATOR',
      role: 'small',
      query: 'q',
      resultTool,
      maxTurns: 5,
      signal: new AbortController().signal,
    })
    expect(answer).toMatchObject({ value: 'value', turns: 2 })
    expect(server.requests[0]?.body.model).toBe('small-model')
  })

  it('accepts tool calls under finish reason stop', async () => {
    const { run } = await chain(script({ ...done, finish_reason: 'stop' }))
    expect((await run()).value.status).toBe('done')
  })

  it('takes a complete call under a finish reason that it does not know', async () => {
    const { run } = await chain(script({ ...done, finish_reason: 'something_new' }))
    expect((await run()).value.status).toBe('done')
  })

  it.each([
    ['length', done],
    ['content_filter', done],
    ['something_new', { ...done, message: { content: null } }],
  ])('is an error for finish reason %s', async (reason, reply) => {
    const { run } = await chain(script({ ...reply, finish_reason: reason }))
    await expect(run()).rejects.toMatchObject({
      code: 'UnhandledInferenceFinishReason',
      status: 500,
      message: `UnhandledInferenceFinishReason: Error: unexpected finish reason - ${reason}`,
    })
  })

  it('is the error of the model client when that fails', async () => {
    const { run } = await chain(script({ status: 401, body: { error: { message: 'no key' } } }))
    await expect(run()).rejects.toMatchObject({ code: 'InferenceCallAPIError', status: 401 })
  })
})

describe('a reply that is cut off by its length', () => {
  const cutOff = { ...toolCall('write_to_file', '{"target": "a.tf", "content": "res'), finish_reason: 'length' }

  it('is not used and asked for again, smaller, which is no turn, and its usage counts', async () => {
    const write = tool('write_to_file', undefined, { mutates: true })
    const events: AgentEvent[] = []
    const { result, sent, offered } = await ran(script(cutOff, cutOff, done), {
      tools: [write],
      maxTurns: 1,
      observe: (event) => events.push(event),
    })
    expect(result.value.summary).toBe('all written')
    expect(write.runs).toHaveLength(0)
    expect(result).toMatchObject({ turns: 1, usage: { input_tokens: 300, cached_tokens: 120, output_tokens: 30 } })
    expect(events.filter(({ type }) => type === 'inference')).toMatchObject([
      { finish: 'length' },
      { finish: 'length' },
      { finish: 'tool_calls' },
    ])
    expect(sent(1)).toEqual([
      { role: 'user', content: expect.stringMatching(/was cut off after 10 tokens.*with less/) },
    ])
    expect(sent(2)[0]?.content).toMatch(/was cut off.*was cut off.*one call only/s)
    expect([offered(0), offered(2)]).toEqual([['task_complete'], ['task_complete']])
  })

  it('leaves the messages before it as they were and keeps the notice for the turns that follow', async () => {
    const read = tool('read_file')
    const replies = script(toolCall('read_file', { target: 'a' }), cutOff, toolCall('read_file', { target: 'b' }), done)
    const { sent, answers } = await ran(replies, { tools: [read] })
    expect(sent(2).slice(0, -1)).toEqual(sent(1).slice(0, -1))
    expect(answers(2)).toEqual([expect.stringMatching(/^read_file result\n\nNotice: your last reply was cut off/)])
    expect(sent(3).slice(0, 3)).toEqual(sent(2))
  })

  it('ends the chain with the third one in a row, and two are allowed again after a whole one', async () => {
    const reading = (target: string) => toolCall('read_file', { target })
    const replies = script(cutOff, cutOff, reading('a'), cutOff, cutOff, reading('b'), cutOff, cutOff, cutOff, done)
    const { run, server } = await chain(replies, { tools: [tool('read_file')] })
    await expect(run()).rejects.toMatchObject({
      code: 'UnhandledInferenceFinishReason',
      message: 'UnhandledInferenceFinishReason: Error: unexpected finish reason - length',
    })
    expect(server.requests).toHaveLength(9)
  })
})

describe('a reply that repeats itself', () => {
  it('is asked for again with a notice that says so', async () => {
    const repeating = { ...text('again and again'), finish_reason: 'repetition' }
    const { sent, result } = await ran(script(repeating, done))
    expect(result.turns).toBe(1)
    expect(sent(1)[0]?.content).toMatch(/cut off after 10 tokens, because it repeated the same text again and again/)
    const { run } = await chain(script(repeating))
    await expect(run()).rejects.toThrow('unexpected finish reason - repetition')
  })
})

describe('the limit of turns', () => {
  const reading: ModelHandler = (_body, index) => toolCall('read_file', { target: index })

  it('allows exactly that many model calls', async () => {
    const { run, server } = await chain(reading, { tools: [tool('read_file')], maxTurns: 3 })
    await expect(run()).rejects.toMatchObject({
      code: 'ToolExecutionsExceeded',
      status: 500,
      message:
        'ToolExecutionsExceeded: The total number of tool executions in this chain has reached the limit. Limit=3',
    })
    expect(server.requests).toHaveLength(3)
  })

  it('offers only the result tool in the last turn and says so', async () => {
    const reads: ModelHandler = (_body, index) => (index < 2 ? toolCall('read_file', { target: index }) : done)
    const { sent, offered } = await ran(reads, { tools: [tool('read_file')], maxTurns: 3 })
    expect([offered(0), offered(1), offered(2)]).toEqual([
      ['read_file', 'task_complete'],
      ['read_file', 'task_complete'],
      ['task_complete'],
    ])
    expect(sent(1).at(-1)?.content).toBe('read_file result')
    expect(sent(2).at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringMatching(/last turn.*`task_complete`/s),
    })
  })

  it('says nothing about the last turn when the result tool is the only tool', async () => {
    const { sent } = await ran(script(done), { maxTurns: 1 })
    expect(sent(0)).toEqual([{ role: 'user', content: 'the query' }])
  })

  it('does not run a tool that is no longer offered', async () => {
    const read = tool('read_file')
    const { run } = await chain(reading, { tools: [read], maxTurns: 2 })
    await expect(run()).rejects.toThrow('Limit=2')
    expect(read.runs).toHaveLength(1)
  })

  it('counts replies without calls', async () => {
    const { run, server } = await chain(script(text('still thinking'), text('')), { maxTurns: 4 })
    await expect(run()).rejects.toThrow('Limit=4')
    expect(server.requests).toHaveLength(4)
  })
})

describe('a reply without tool calls', () => {
  it('is kept when it says something, and answered with a reminder', async () => {
    const { sent } = await ran(script(text('I have a plan'), done))
    expect(sent(1)).toEqual([
      { role: 'user', content: 'the query' },
      { role: 'assistant', content: 'I have a plan' },
      { role: 'user', content: expect.stringContaining('`task_complete`') },
    ])
  })

  it('is not kept when empty: the same content goes out again with one notice', async () => {
    const { sent } = await ran(script(text(''), text('  \n'), done))
    const notice = [{ role: 'user', content: expect.stringMatching(/^the query\n\n.*`task_complete`/) }]
    expect(sent(1)).toEqual(notice)
    expect(sent(2)).toEqual(sent(1))
  })
})

describe('calls that a server left in the text', () => {
  const written = (name: string, args: string) =>
    text(`I look.\n<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`)
  const report = '{"status": "done", "summary": "all written"}'

  it('are run, and one that is broken is asked for again with what is wrong, within the turns', async () => {
    const read = tool('read_file')
    const replies = script(
      written('read_file', '{"target": "a'),
      written('read_file', '{"target": "a"}'),
      written('task_complete', report),
    )
    const { answers, sent, result } = await ran(replies, { tools: [read] })
    expect(result.value.summary).toBe('all written')
    expect(result.usage).toMatchObject({ input_tokens: 300, output_tokens: 30 })
    expect(answers(1)).toEqual([expect.stringMatching(/not a JSON object .*Call it again with one valid JSON object/)])
    expect(answers(2)[1]).toBe('read_file result')
    expect(sent(1)[1]).toMatchObject({ role: 'assistant', content: 'I look.' })
    const lastTurn = chain(script(written('task_complete', '{"status": "do')), { maxTurns: 3 })
    await expect((await lastTurn).run()).rejects.toMatchObject({ code: 'ToolExecutionsExceeded' })
  })
})

describe('tool calls', () => {
  it('are run in order and answered by id; structured results are JSON text', async () => {
    const order: unknown[] = []
    const read = tool('read_file', (args) => {
      order.push(args.target)
      return { diff: args.target }
    })
    const both = toolCalls(['read_file', { target: 'b' }], ['read_file', { target: 'a' }])
    const { sent } = await ran(script(both, done), { tools: [read] })
    expect(order).toEqual(['b', 'a'])
    const ids = sent(1)
      .find((message) => message.role === 'assistant')
      ?.tool_calls?.map((call) => call.id)
    expect(sent(1).filter((message) => message.role === 'tool')).toEqual([
      { role: 'tool', tool_call_id: ids?.[0], content: '{"diff":"b"}' },
      { role: 'tool', tool_call_id: ids?.[1], content: '{"diff":"a"}' },
    ])
  })

  it.each<[string, unknown, string | RegExp]>([
    ['an unknown tool', ['format_disk', {}], /^Tool format_disk not found\. The tools are: `read_file`, `\w+`$/],
    ['a missing parameter', ['read_file', { target: undefined }], 'Missing required parameter of `read_file`: target'],
    [
      'a misnamed parameter',
      ['read_file', { path: 'a' }],
      'Missing required parameter of `read_file`: target. `path` is unknown; the parameter is `target`.',
    ],
    [
      'a line break inside of a string',
      ['read_file', '{"target": "a\nb"}'],
      /Write line breaks inside of strings as \\n.* Call it again with one valid JSON object\.$/,
    ],
    ['a string without an end', ['read_file', '{"target": "a'], /cut off: send smaller pieces/],
    ['a list without an end', ['read_file', '{"target": ["a", "b"'], /cut off: send smaller pieces/],
    [
      'quotation marks that are not escaped',
      ['read_file', '{"target": "say "a" {"}'],
      /^The arguments of `read_file` are not a JSON object \(.*\)\. Call it again/,
    ],
    ['prose', ['read_file', 'main.tf, please'], /^(?!.*(cut off|line breaks)).*not a JSON object/],
    [
      'null for a required parameter',
      ['read_file', { target: null }],
      'Missing required parameter of `read_file`: target',
    ],
    ['arguments that are no JSON', ['read_file', '{"target": '], /arguments of `read_file` are not a JSON object/],
    ['arguments that are no object', ['read_file', '["main.tf"]'], /not a JSON object \(an array\)/],
  ])('with %s are answered with an error result', async (_name, call, expected) => {
    const [name, args] = call as [string, unknown]
    const read = tool('read_file')
    const { run, answers } = await chain(script(toolCall(name, args), done), { tools: [read] })
    expect((await run()).turns).toBe(2)
    expect(answers(1)).toEqual([typeof expected === 'string' ? expected : expect.stringMatching(expected)])
    expect(read.runs).toHaveLength(0)
  })

  it('never miss an explanation', async () => {
    const read = tool('read_file')
    read.definition.parameters.required = ['target', 'explanation']
    await ran(script(toolCall('read_file', { target: 'a' }), done), { tools: [read] })
    expect(read.runs).toHaveLength(1)
  })

  it('that fail are answered with the message, and the chain goes on', async () => {
    const events: AgentEvent[] = []
    const failing = tool('read_file', () => {
      throw new ToolError('File x.tf does not exist')
    })
    const { answers } = await ran(script(toolCall('read_file', { target: 'x.tf' }), done), {
      tools: [failing],
      observe: (event) => events.push(event),
    })
    expect(answers(1)).toEqual(['File x.tf does not exist'])
    expect(events).toMatchObject([
      {
        type: 'inference',
        chain: 'IAC_GENERATOR',
        model: 'openai/main-model',
        finish: 'tool_calls',
        usage: { input_tokens: 100 },
      },
      { type: 'tool', name: 'read_file', success: false },
      { type: 'inference' },
      { type: 'tool', name: 'task_complete', success: true },
    ])
  })

  it('that fail for unknown reasons do not tell the model what is on this machine', async () => {
    const events: AgentEvent[] = []
    const failing = tool('read_file', () => {
      throw new Error('ENOENT: /srv/secret/path')
    })
    const { answers } = await ran(script(toolCall('read_file', { target: 'x' }), done), {
      tools: [failing],
      observe: (event) => events.push(event),
    })
    expect(answers(1)).toEqual(['The tool `read_file` failed unexpectedly.'])
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'tool',
        error: expect.objectContaining({ message: 'ENOENT: /srv/secret/path' }),
      }),
    )
  })

  it('have their results cut in the middle', async () => {
    const long = tool('read_file', () => `${'a'.repeat(100)}${'z'.repeat(100)}`)
    const { answers } = await ran(script(toolCall('read_file', { target: 'x' }), done), {
      tools: [long],
      maxResultChars: 20,
    })
    expect(answers(1)).toEqual([`${'a'.repeat(10)}\n[… 180 characters left out …]\n${'z'.repeat(10)}`])
  })
})

describe('repeated calls', () => {
  const counting = () => tool('read_file', (_args, run) => `run ${run}`)

  it('are not run again, whatever the order of keys and the explanation', async () => {
    const read = counting()
    const { answers } = await ran(
      script(
        toolCall('read_file', { target: { a: 1, b: [{ x: 1, y: 2 }] }, explanation: 'because' }),
        toolCall('read_file', { explanation: 'again', target: { b: [{ y: 2, x: 1 }], a: 1 } }),
        toolCall('read_file', { target: { a: 1, b: [] } }),
        done,
      ),
      { tools: [read] },
    )
    expect(read.runs).toHaveLength(2)
    expect(answers(3)).toEqual(['run 1', expect.stringMatching(/^Not run again: .*call_/), 'run 2'])
  })

  it('are run again after a failure', async () => {
    const read = tool('read_file', (_args, run) => {
      if (run === 1) throw new ToolError('busy')
      return 'content'
    })
    const call = toolCall('read_file', { target: 'a' })
    const { answers } = await ran(script(call, call, done), { tools: [read] })
    expect(answers(2)).toEqual(['busy', 'content'])
  })

  it('are run again after a successful mutation, not after a failed one', async () => {
    const read = counting()
    const write = tool(
      'write_to_file',
      (args) => {
        if (args.target === 'bad') throw new ToolError('refused')
        return 'written'
      },
      { mutates: true },
    )
    const reading = toolCall('read_file', { target: 'a' })
    const { answers } = await ran(
      script(
        reading,
        toolCall('write_to_file', { target: 'bad' }),
        reading,
        toolCall('write_to_file', { target: 'good' }),
        reading,
        done,
      ),
      { tools: [read, write], maxTurns: 10 },
    )
    expect(answers(5)).toEqual(['run 1', 'refused', expect.stringContaining('Not run again'), 'written', 'run 2'])
  })
})

describe('aborting', () => {
  it('throws the reason of the signal while the model is thinking', async () => {
    const controller = new AbortController()
    const reason = new Error('lease lost')
    const { run } = await chain(
      () => {
        controller.abort(reason)
        return 'hang'
      },
      { signal: controller.signal },
    )
    await expect(run()).rejects.toBe(reason)
  })

  it('throws the reason of the signal when a tool stops because of it, and calls no model again', async () => {
    const controller = new AbortController()
    const reason = new Error('worker stops')
    const slow = tool('read_file', () => {
      controller.abort(reason)
      throw new ToolError('stopped')
    })
    const { run, server } = await chain(script(toolCall('read_file', { target: 'a' }), done), {
      tools: [slow],
      signal: controller.signal,
    })
    await expect(run()).rejects.toBe(reason)
    expect(server.requests).toHaveLength(1)
  })
})

it('a plain text is asked for once, without tools, and taken also when it was cut', async () => {
  const server = await serveModel(script(text(' Checking your netw\n', 'length')))
  const events: string[] = []
  const answer = await askText({
    llm: createLlmClient(modelConfig(server.url), { fetch, log: silentLogger }),
    chain: 'STATUS_UPDATE',
    role: 'small',
    system: 'tone',
    query: 'message',
    conversation: [{ user: 'u', assistant: 'a' }],
    signal: new AbortController().signal,
    observe: (event) => events.push(event.type),
  })
  expect(answer).toBe('Checking your netw')
  expect(events).toEqual(['inference'])
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]?.body).not.toHaveProperty('tools')
  expect(server.requests[0]?.body.messages.map((message) => message.content)).toEqual(['tone', 'u', 'a', 'message'])
})
