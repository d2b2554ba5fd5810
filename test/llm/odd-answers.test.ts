import { gzipSync } from 'node:zlib'
import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { LlmConfig } from '../../config/types.ts'
import { createLogger } from '../../src/base/log.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { interceptedLlm } from '../helpers/model-server.ts'

const outside = interceptRequests()

const MODELS = {
  chat: ['https://api.openai.com', { model: 'openai/gpt-4o', credentials: { OPENAI_API_KEY: 'key-of-mine' } }],
  anthropic: [
    'https://api.anthropic.com',
    { model: 'anthropic/claude-sonnet-5', credentials: { ANTHROPIC_API_KEY: 'key-of-mine' } },
  ],
  gemini: [
    'https://generativelanguage.googleapis.com',
    {
      model: 'g',
      small_model: 'g',
      model_list: [{ model_name: 'g', litellm_params: { model: 'gemini/gemini-3.8-flash', wire: 'gemini' } }],
      credentials: { GEMINI_API_KEY: 'key-of-mine' },
    },
  ],
  bedrock: [
    'https://bedrock-runtime.us-west-2.amazonaws.com',
    { model: 'bedrock/m', credentials: { AWS_BEARER_TOKEN_BEDROCK: 'key-of-mine' } },
  ],
  together: ['https://api.together.ai', { model: 'together_ai/m', credentials: { TOGETHERAI_API_KEY: 'key-of-mine' } }],
  deepseek: ['https://api.deepseek.com', { model: 'deepseek/m', credentials: { DEEPSEEK_API_KEY: 'key-of-mine' } }],
  openrouter: ['https://openrouter.ai', { model: 'openrouter/m', credentials: { OPENROUTER_API_KEY: 'key-of-mine' } }],
} satisfies Record<string, [string, Partial<LlmConfig>]>
type Name = keyof typeof MODELS

/** Asks with these replies in turn; the last one is repeated. */
function ask(name: Name, ...replies: (() => Response)[]) {
  const [origin, overrides] = MODELS[name]
  const lines: string[] = []
  let calls = 0
  outside.use(
    http.post(`${origin}/*`, () => replies[Math.min(++calls, replies.length) - 1]?.() ?? HttpResponse.error()),
  )
  const log = createLogger({ write: (line) => lines.push(line) })
  const llm = interceptedLlm({ small_model: overrides.model, ...overrides }, log)
  const answer = llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hi' }] })
  return { answer, lines, calls: () => calls }
}

/** Answers in the forms of the providers that ended for this reason. */
const chat = (finish_reason: string | null, message: object) => ({ choices: [{ finish_reason, message }] })
const gemini = (finishReason: string, content: object = {}) => ({ candidates: [{ content, finishReason }] })
const converse = (stopReason: string) => ({ output: { message: { content: [] } }, stopReason })
const completion = (content: string) => chat('stop', { content })
const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
const stream = (...events: (object | string)[]) =>
  new HttpResponse(
    events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  )

describe('a stream that nobody asked for', () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  })

  it('of chat completions is put together, calls and usage included', async () => {
    const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] })
    const { answer } = ask('chat', () =>
      stream(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Look' }),
        chunk({ content: 'ing.' }),
        chunk(call(0, { id: 'c1', type: 'function', function: { name: 'read', arguments: '' } })),
        chunk(call(0, { function: { arguments: '{"a":' } })),
        chunk(call(1, { id: 'c2', function: { name: 'list', arguments: '{}' } })),
        chunk(call(0, { function: { arguments: '1}' } })),
        ': keep-alive',
        chunk({}, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } },
        '[DONE]',
      ),
    )
    expect(await answer).toMatchObject({
      text: 'Looking.',
      finish: 'tool_use',
      tool_calls: [
        { id: 'c1', name: 'read', arguments: '{"a":1}' },
        { id: 'c2', name: 'list', arguments: '{}' },
      ],
      usage: { input_tokens: 5, output_tokens: 2 },
    })
  })

  it('of messages is put together', async () => {
    const { answer } = ask('anthropic', () =>
      stream(
        {
          type: 'message_start',
          message: { type: 'message', role: 'assistant', content: [], usage: { input_tokens: 7, output_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'ping' },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
        {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 't1', name: 'read', input: {} },
        },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: ':1}' } },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ),
    )
    expect(await answer).toMatchObject({
      text: 'Hi.',
      finish: 'tool_use',
      tool_calls: [{ id: 't1', name: 'read', arguments: '{"a":1}' }],
      usage: { input_tokens: 7, output_tokens: 9 },
    })
  })

  it('of generated content is put together', async () => {
    const { answer } = ask('gemini', () =>
      stream(
        { candidates: [{ content: { parts: [{ text: 'Thinking', thought: true }] } }] },
        { candidates: [{ content: { parts: [{ text: 'Hi.' }] } }] },
        {
          candidates: [
            { content: { parts: [{ functionCall: { name: 'read', args: { a: 1 } } }] }, finishReason: 'STOP' },
          ],
          usageMetadata: { promptTokenCount: 4 },
        },
      ),
    )
    expect(await answer).toMatchObject({
      text: 'Hi.',
      finish: 'tool_use',
      tool_calls: [{ name: 'read', arguments: '{"a":1}' }],
      usage: { input_tokens: 4 },
    })
  })

  it.each<[Name, object]>([
    ['chat', { error: { message: 'overloaded', code: 503 } }],
    ['anthropic', OVERLOADED],
    ['gemini', { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }],
  ])('of %s that ends in an error is asked for again', async (name, error) => {
    const { answer, calls } = ask(name, () => stream(error))
    await expect(answer).rejects.toThrow(/overloaded/i)
    expect(calls()).toBe(4)
  })
})

describe('packed answers', () => {
  const packed = gzipSync(JSON.stringify(completion('unpacked')))

  it.each<[string, Record<string, string>]>([
    ['as the headers say', { 'content-encoding': 'gzip', 'content-type': 'application/json' }],
    ['although no header says so', { 'content-type': 'application/json' }],
  ])('are unpacked, %s', async (_name, headers) => {
    expect((await ask('chat', () => new HttpResponse(packed, { headers })).answer).text).toBe('unpacked')
  })

  it('are read whatever content type they claim', async () => {
    const { answer } = ask(
      'chat',
      () => new HttpResponse(JSON.stringify(completion('plain')), { headers: { 'content-type': 'text/plain' } }),
    )
    expect((await answer).text).toBe('plain')
  })

  it('do not fill the memory', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '))
    const { answer, calls } = ask(
      'chat',
      () => new HttpResponse(bomb, { headers: { 'content-type': 'application/json' } }),
    )
    await expect(answer).rejects.toThrow('the answer is larger than 33554432 bytes')
    expect(calls()).toBe(1)
  })
})

describe('errors in answers that claim success', () => {
  const json = (body: object) => () => HttpResponse.json(body)

  it.each<[string, Name, object, string]>([
    [
      'a router that passes on an error',
      'openrouter',
      {
        choices: [
          { error: { code: 502, message: 'Upstream failed' }, finish_reason: 'error', message: { content: '' } },
        ],
      },
      'Upstream failed',
    ],
    ['an overloaded vendor', 'anthropic', OVERLOADED, 'Overloaded'],
    [
      'a list with one error',
      'chat',
      [{ error: { code: 503, message: 'try later', status: 'UNAVAILABLE' } }],
      'try later',
    ],
    ['a call in no readable form', 'gemini', gemini('MALFORMED_FUNCTION_CALL'), 'MALFORMED_FUNCTION_CALL'],
    ['too many calls at once', 'gemini', gemini('TOO_MANY_TOOL_CALLS', { role: 'model' }), 'TOO_MANY_TOOL_CALLS'],
    ['an answer that cannot be parsed', 'gemini', gemini('MALFORMED_RESPONSE'), 'MALFORMED_RESPONSE'],
    ['a broken tool use', 'bedrock', converse('malformed_tool_use'), 'malformed_tool_use'],
    [
      'a call that a filter took for none',
      'chat',
      chat('function_call_filter: MALFORMED_FUNCTION_CALL', {}),
      'MALFORMED_FUNCTION_CALL',
    ],
    ['nothing at all', 'chat', chat(null, { content: null }), 'the answer is empty'],
    [
      'an interrupted answer',
      'deepseek',
      chat('insufficient_system_resource', { content: 'ha' }),
      'insufficient_system_resource',
    ],
  ])('%s is asked again', async (_name, model, body, shown) => {
    const { answer, calls } = ask(model, json(body))
    await expect(answer).rejects.toThrow(shown)
    expect(calls()).toBe(4)
  })

  it.each<[string, Name, object, string]>([
    ['a refusal without status', 'chat', { message: 'no such model' }, 'no such model'],
    ['details of a framework', 'chat', { detail: [{ loc: ['body', 'model'], msg: 'unknown' }] }, 'model: unknown'],
  ])('%s is final', async (_name, model, body, shown) => {
    const { answer, calls } = ask(model, json(body))
    await expect(answer).rejects.toThrow(shown)
    expect(calls()).toBe(1)
  })
})

describe('endings of one provider', () => {
  const PROHIBITED = 'content_filter: PROHIBITED_CONTENT'
  it.each<[Name, object, string | null, string]>([
    ['together', chat('eos', { content: 'x' }), 'end_turn', 'eos'],
    ['chat', chat('eos', { content: 'x' }), 'end_turn', 'eos'],
    ['chat', chat('eos', { content: null }), null, 'eos'],
    ['chat', chat('stop', { content: null, refusal: 'I will not.' }), 'end_turn', 'stop'],
    ['chat', chat(null, { content: 'x' }), 'end_turn', 'none'],
    ['chat', chat(PROHIBITED, {}), 'content_filter', PROHIBITED],
    ['anthropic', { content: [], stop_reason: 'model_context_window_exceeded' }, 'max_tokens', 'length'],
    ['anthropic', { content: [], stop_reason: 'compaction' }, null, 'compaction'],
    ['anthropic', { content: [{ type: 'text', text: 'x' }] }, 'end_turn', 'none'],
    [
      'gemini',
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: {} },
      'content_filter',
      'content_filter',
    ],
    ['gemini', gemini('OTHER', { parts: [] }), null, 'OTHER'],
    ['bedrock', converse('content_filtered'), 'content_filter', 'content_filter'],
  ])('%s %j', async (name, body, finish, finish_raw) => {
    expect(await ask(name, () => HttpResponse.json(body)).answer).toMatchObject({ finish, finish_raw })
  })

  it('arguments that are objects become their text, calls without an id get one', async () => {
    const tool_calls = [{ type: 'function', function: { name: 'read', arguments: { a: 1 } } }]
    const { answer } = ask('chat', () => HttpResponse.json(chat('tool_calls', { content: null, tool_calls })))
    expect((await answer).tool_calls).toEqual([
      { id: expect.stringMatching(/^call_/), name: 'read', arguments: '{"a":1}' },
    ])
  })
})

describe.each<Name>(['chat', 'anthropic', 'gemini', 'bedrock'])('faults on the way to %s', (name) => {
  it.each<[string, () => Response, string]>([
    [
      'a page of a gateway',
      () => new HttpResponse('<html>hi</html>', { headers: { 'content-type': 'text/html' } }),
      'the answer is not a chat completion',
    ],
    ['an error page', () => new HttpResponse('<html>bad gateway</html>', { status: 502 }), 'HTTP 502'],
    ['another thing', () => HttpResponse.json({ hello: 'world' }), 'the answer is not a chat completion'],
    ['a number', () => HttpResponse.json(7), 'the answer is not a chat completion'],
    ['an empty list of choices', () => HttpResponse.json({ choices: [] }), 'the answer is not a chat completion'],
    ['nothing', () => new HttpResponse(''), 'the answer is not a chat completion'],
    ['a cut connection', () => HttpResponse.error(), 'the connection failed'],
    [
      'half an answer',
      () => new HttpResponse('{"choices": [{', { headers: { 'content-type': 'application/json' } }),
      'the answer is not JSON',
    ],
  ])('%s: asked again, and named', async (_name, reply, reason) => {
    const { answer, calls } = ask(name, reply)
    await expect(answer).rejects.toMatchObject({ status: 502, message: expect.stringContaining(reason) })
    expect(calls()).toBe(4)
  })

  it('the key is shown nowhere', async () => {
    const { answer, lines } = ask(name, () =>
      HttpResponse.json({ error: { message: 'bad key key-of-mine' }, message: 'bad key key-of-mine' }, { status: 500 }),
    )
    const error = await answer.then(String, String)
    for (const seen of [error, ...lines]) expect(seen).not.toContain('key-of-mine')
    expect(error).toContain('bad key ***')
  })
})

describe('a redirect', () => {
  const to =
    (location: string, status = 307) =>
    () =>
      new HttpResponse(null, { status, headers: { location } })

  it('is followed within its origin', async () => {
    const { answer, calls } = ask('chat', to('/v2/chat/completions', 308), () => HttpResponse.json(completion('there')))
    expect((await answer).text).toBe('there')
    expect(calls()).toBe(2)
  })

  it.each([
    'https://elsewhere.example.com/v1',
    'http://api.openai.com/v1',
    'https://',
  ])('to %s takes neither key nor prompt along', async (location) => {
    const { answer, calls } = ask('chat', to(location))
    await expect(answer).rejects.toThrow('redirects elsewhere')
    expect(calls()).toBe(1)
  })

  it('in a circle ends', async () => {
    const { answer, calls } = ask('anthropic', to('/v1/messages'))
    await expect(answer).rejects.toThrow('redirects elsewhere')
    expect(calls()).toBe(4)
  })
})
