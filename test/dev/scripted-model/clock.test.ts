import { afterEach, describe, expect, it } from 'vitest'
import { UsageError } from '../../../dev/command.ts'
import { createPrefixMemory, durationOf, readTimes, USUAL_TIMES } from '../../../dev/scripted-model/clock.ts'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { type PlayedCall, type ScriptedModel, startScriptedModel } from '../../../dev/scripted-model/start.ts'
import type { Message } from '../../../src/llm/inference.ts'
import { messagesWire } from '../../../src/llm/wire/anthropic.ts'
import { chatWire } from '../../../src/llm/wire/chat.ts'
import { geminiWire } from '../../../src/llm/wire/gemini.ts'
import { assemble } from '../../../src/llm/wire/wire.ts'
import { interceptedLlm } from '../../helpers/model-server.ts'

let scripted: ScriptedModel
afterEach(() => scripted?.close())

const AT_ONCE = readTimes('0,0,0,0')
const FORMS = [
  ['openai/scripted-model', 'chat', '/v1'],
  ['anthropic/scripted-model', 'anthropic', '/anthropic/v1'],
  ['gemini/scripted-model', 'gemini', '/gemini/v1beta'],
] as const

describe('the times', () => {
  it('are four numbers', () => {
    expect(readTimes('800,0.05,0.005,15')).toEqual(USUAL_TIMES)
    for (const wrong of ['', '1,2,3', '1,2,3,4,5', '1,,3,4', '1,2,3,-4', 'a,b,c,d'])
      expect(() => readTimes(wrong), wrong).toThrow(UsageError)
  })

  it('add up per token, cached ones at their own rate', () => {
    expect(durationOf(USUAL_TIMES, { input: 10_000, cached: 8_000, output: 100 })).toEqual({
      first_ms: 800 + 100 + 40,
      output_ms: 1_500,
    })
  })
})

describe('the memory of prefixes', () => {
  it('knows the longest beginning of an earlier request to the same model', () => {
    const memory = createPrefixMemory()
    expect(memory.add('a', 'rules one')).toBe(0)
    expect(memory.add('a', 'rules one two')).toBe(9)
    expect(memory.add('a', 'rules three')).toBe(6)
    expect(memory.add('a', 'rules one two four')).toBe(13)
    expect(memory.add('b', 'rules one')).toBe(0)
    memory.clear()
    expect(memory.add('a', 'rules one')).toBe(0)
  })
})

describe('the scripted model with a clock', () => {
  it.each(FORMS)('tells what it has read before, asked as %s', async (model, wire, path) => {
    scripted = await startScriptedModel({ times: AT_ONCE })
    const llm = interceptedLlm({
      ...{ model: 'm', small_model: 'm' },
      model_list: [
        { model_name: 'm', litellm_params: { model, wire, api_base: `${scripted.url}${path}`, api_key: 'k' } },
      ],
    })
    const messages: Message[] = [
      { role: 'system', content: 'You write infrastructure as code.'.repeat(40) },
      { role: 'user', content: EXAMPLES.generate.request },
    ]
    const tool = { name: 'task_complete', description: 'ends', parameters: { type: 'object', properties: {} } }
    const first = await llm.complete({ role: 'main', messages, tools: [tool] })
    expect(first.usage.cached_tokens).toBe(0)
    const next: Message[] = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: first.tool_calls },
      ...first.tool_calls.map(({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'locals.tf' })),
    ]
    const second = await llm.complete({ role: 'main', messages: next, tools: [tool] })
    // One is counted down and the other up.
    expect([first.usage.input_tokens - 1, first.usage.input_tokens]).toContain(second.usage.cached_tokens)
    expect(second.usage.input_tokens).toBeGreaterThan(second.usage.cached_tokens)
    // Other tools stand before everything else.
    const other = await llm.complete({ role: 'main', messages: next, tools: [{ ...tool, name: 'requests_filter' }] })
    expect(other.usage.cached_tokens).toBeLessThan(10)
  })

  it('answers when the time of the call is over, and stops when nobody waits for it', async () => {
    const calls: PlayedCall[] = []
    scripted = await startScriptedModel({ times: readTimes('3600000,0,0,0'), onCall: (call) => calls.push(call) })
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Waiting.' }] })
    const answer = fetch(`${scripted.url}/v1/chat/completions`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(200),
    })
    await expect(answer).rejects.toThrow(/timeout/)
    await expect.poll(() => calls).toMatchObject([{ stopped: true, usage: { output: 0 } }])
  })
})

describe('a stream', () => {
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${scripted.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    return { type: response.headers.get('content-type'), text: await response.text() }
  }
  const eventsIn = (text: string) =>
    text.split('\n').flatMap((line) => (/^data: \{/.test(line) ? [JSON.parse(line.slice(6)) as unknown] : []))
  const query = EXAMPLES.generate.request
  const user = [{ role: 'user', content: query }]
  const parameters = { type: 'object', properties: {} }
  const named = (name: string) => ({ name, description: name, parameters })
  const CASES = [
    ['text', null],
    ['calls', 'list_dir'],
    ['a long call', 'requests_filter'],
  ] as const

  it.each(CASES)('holds the same as a whole answer in every form: %s', async (_, sentinel) => {
    scripted = await startScriptedModel()
    const names = sentinel === null ? [] : sentinel === 'list_dir' ? ['list_dir', 'task_complete'] : [sentinel]
    const some = <T>(tools: T) => (names.length > 0 ? tools : undefined)
    const chat = {
      ...{ model: 'm', messages: user },
      tools: some(names.map((name) => ({ type: 'function', function: named(name) }))),
    }
    const messages = {
      ...{ model: 'm', max_tokens: 100, messages: user },
      tools: some(names.map((name) => ({ name, input_schema: parameters }))),
    }
    const gemini = {
      contents: [{ role: 'user', parts: [{ text: query }] }],
      tools: some([{ functionDeclarations: names.map(named) }]),
    }
    const forms = [
      [chatWire, '/v1/chat/completions', '/v1/chat/completions', chat],
      [messagesWire, '/anthropic/v1/messages', '/anthropic/v1/messages', messages],
      [
        geminiWire,
        '/gemini/v1beta/models/m:generateContent',
        '/gemini/v1beta/models/m:streamGenerateContent?alt=sse',
        gemini,
      ],
    ] as const
    for (const [wire, path, streamPath, body] of forms) {
      const whole = await ask(path, body)
      const streamed = await ask(streamPath, path === streamPath ? { ...body, stream: true } : body)
      expect(streamed.type).toContain('text/event-stream')
      const events = eventsIn(streamed.text)
      if (sentinel === null) expect(events.length, wire.name).toBeGreaterThan(3)
      expect(comparable(wire.decode(assemble(wire, events)))).toEqual(comparable(wire.decode(JSON.parse(whole.text))))
    }
  })
})

/** The message and usage of a completion, without ids. */
function comparable(completion: unknown) {
  const { choices, usage } = completion as {
    choices: { message: Record<string, unknown>; finish_reason: string }[]
    usage: Record<string, unknown>
  }
  const [{ message, finish_reason } = { message: {}, finish_reason: '' }] = choices
  const calls = (message.tool_calls ?? []) as { function: { name: string; arguments: string } }[]
  return {
    text: message.content || null,
    finish_reason,
    calls: calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
    tokens: [usage.prompt_tokens, usage.completion_tokens],
  }
}
