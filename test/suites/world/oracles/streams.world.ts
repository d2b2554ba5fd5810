import { describe, expect, it } from 'vitest'
import { ANTHROPIC, readMessage } from './clients/anthropic.ts'
import { CHAT, readChat } from './clients/chat.ts'
import { GOOGLE, genai, readGenerated } from './clients/google.ts'
import { OPENING } from './conversation.ts'
import { interceptor, ourClient, understood } from './exchange.ts'
import { type Loose, sdk } from './sdks.ts'

/** We ask for no stream, but gateways send one unasked; then it must be understood as the client understands it. */
const serve = interceptor()
const stream = (events: object[], named = false) => ({
  headers: { 'content-type': 'text/event-stream' },
  text: events
    .map((event) => `${named ? `event: ${(event as Loose).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join(''),
})
const ask = (oracle: { ours: Parameters<typeof ourClient>[0] } | undefined) =>
  ourClient(oracle?.ours ?? { model: '' })
    .complete({ role: 'main', messages: OPENING })
    .then(understood)

const chunk = (delta: object, rest: object = {}) => ({
  id: 'chatcmpl-123',
  object: 'chat.completion.chunk',
  created: 1_694_268_190,
  model: 'gpt-4o',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }],
})
const call = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] })
const CHUNKS = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'I look' }),
  chunk({ content: ' at both.' }),
  chunk(call(0, { id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '' } })),
  chunk(call(0, { function: { arguments: '{"target_' } })),
  chunk(call(0, { function: { arguments: 'file":"main.tf"}' } })),
  chunk(call(1, { id: 'call_b', type: 'function', function: { name: 'list_files', arguments: '{}' } })),
  chunk({}, { finish_reason: 'tool_calls' }),
  { ...chunk({}), choices: [], usage: { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 } },
]

const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const EVENTS = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'claude-haiku-4-5',
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 25, cache_read_input_tokens: 100, cache_creation_input_tokens: 0, output_tokens: 1 },
    },
  },
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'Both' }),
  delta(0, { type: 'signature_delta', signature: 'EqQB' }),
  stop(0),
  block(1, { type: 'text', text: '' }),
  delta(1, { type: 'text_delta', text: 'I look' }),
  delta(1, { type: 'text_delta', text: ' at both.' }),
  stop(1),
  block(2, { type: 'tool_use', id: 'toolu_a', name: 'read_file', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '' }),
  delta(2, { type: 'input_json_delta', partial_json: '{"target_file": "ma' }),
  delta(2, { type: 'input_json_delta', partial_json: 'in.tf"}' }),
  stop(2),
  block(3, { type: 'tool_use', id: 'toolu_b', name: 'list_files', input: {} }),
  stop(3),
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 15 } },
  { type: 'message_stop' },
]

const part = (parts: object[], rest: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...rest }],
})
const PARTS = [
  part([{ text: 'I look' }]),
  part([{ text: ' at both.' }]),
  part([{ functionCall: { name: 'list_files', args: {} }, thoughtSignature: 'CtoB' }]),
  {
    ...part([{ text: '' }], { finishReason: 'STOP' }),
    usageMetadata: { promptTokenCount: 25, candidatesTokenCount: 12, thoughtsTokenCount: 3, totalTokenCount: 40 },
  },
]

describe('a stream that nobody asked for is read as the client reads it', () => {
  it('of chat completions', async () => {
    serve(stream(CHUNKS))
    const client = new (sdk('openai').OpenAI)({ apiKey: 'key', maxRetries: 0 })
    const theirs = await client.chat.completions.stream({ model: 'gpt-4o', messages: [] }).finalChatCompletion()
    expect(theirs.choices[0].message.tool_calls).toHaveLength(2)
    serve(stream(CHUNKS))
    expect(await ask(CHAT[0])).toEqual(readChat(theirs))
  })

  it('of the Messages API', async () => {
    serve(stream(EVENTS, true))
    const client = new (sdk('@anthropic-ai/sdk').Anthropic)({ apiKey: 'key', maxRetries: 0 })
    const question = { role: 'user', content: 'Hi' }
    const theirs = await client.messages.stream({ model: 'm', max_tokens: 9, messages: [question] }).finalMessage()
    expect(theirs.content).toHaveLength(4)
    serve(stream(EVENTS, true))
    expect(await ask(ANTHROPIC[0])).toEqual(readMessage(theirs))
  })

  it('of generated content', async () => {
    serve(stream(PARTS))
    const chunks: Loose[] = []
    for await (const one of await genai().generateContentStream({ model: 'gemini-3.8-flash', contents: 'Hi' }))
      chunks.push(one)
    const joined = {
      text: chunks.map(({ text }) => text ?? '').join(''),
      functionCalls: chunks.flatMap(({ functionCalls }) => functionCalls ?? []),
      candidates: chunks.at(-1).candidates,
      usageMetadata: chunks.at(-1).usageMetadata,
    }
    expect(joined.functionCalls).toHaveLength(1)
    serve(stream(PARTS))
    expect(await ask(GOOGLE[0])).toEqual(readGenerated(joined))
  })
})
