import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import type { InferenceRequest } from '../../src/llm/inference.ts'
import { type ChatBody, modelConfig, provideModelServers, text } from '../helpers/model-server.ts'

/** Refusals in the words of servers that people put before a model. Each is sent until the request is as it wants. */
const serveModel = provideModelServers()

const TOOL = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }
const CALLS = [
  { id: 'a', name: 'look', arguments: '{"a": ' },
  { id: 'b', name: 'look', arguments: '{}' },
]
const REQUEST: InferenceRequest = {
  role: 'main',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: null, tool_calls: CALLS },
    { role: 'tool', tool_call_id: 'a', content: 'no' },
    { role: 'tool', tool_call_id: 'b', content: 'yes' },
  ],
  tools: [TOOL],
}

const object = (message: unknown, more: object = {}) => ({ object: 'error', message, type: 'BadRequestError', ...more })
const plain = (message: string, more: object = {}) => ({ error: { message, ...more } })

type Wants = (body: ChatBody) => boolean
const wantsNo =
  (name: string): Wants =>
  (body) =>
    !(name in body)
const wantsCap =
  (most: number): Wants =>
  ({ max_tokens }) =>
    Number(max_tokens) <= most
const NO_SYSTEM: Wants = ({ messages }) => messages[0]?.role === 'user' && messages[0].content === 'Be brief.\n\nLook.'
const NO_NULL: Wants = ({ messages }) => messages.every(({ content }) => content !== null)

const SINGLE: Wants = ({ messages }) =>
  messages
    .map(({ role, tool_call_id, tool_calls }) => tool_call_id ?? tool_calls?.map(({ id }) => id).join() ?? role)
    .join(' ') === 'system user a a b b'

const REFUSALS: [server: string, status: number, body: object, wants: Wants][] = [
  [
    'vLLM before 0.7: extra inputs',
    400,
    object("[{'type': 'extra_forbidden', 'loc': ('body', 'tool_choice'), 'msg': 'Extra inputs are not permitted'}]"),
    wantsNo('tool_choice'),
  ],
  [
    'a server of FastAPI',
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'tool_choice'], msg: 'Extra inputs are not permitted' }] },
    wantsNo('tool_choice'),
  ],
  [
    'llama.cpp without templates',
    500,
    plain('tool_choice param requires --jinja flag', { code: 500, type: 'server_error' }),
    wantsNo('tool_choice'),
  ],
  [
    'LiteLLM',
    400,
    plain(
      "litellm.UnsupportedParamsError: bedrock does not support parameters: ['tool_choice'], for model=m. To drop these, set `litellm.drop_params=True`",
      { code: '400' },
    ),
    wantsNo('tool_choice'),
  ],
  [
    'Azure',
    400,
    plain('Unrecognized request argument supplied: tool_choice', { type: 'invalid_request_error', param: null }),
    wantsNo('tool_choice'),
  ],
  [
    'a server with a range of its own',
    400,
    plain('temperature must be 1 for this model', { param: 'temperature' }),
    wantsNo('temperature'),
  ],
  [
    'Llama 3 behind llama.cpp',
    500,
    plain('Error: Jinja Exception: This model only supports single tool-calls at once!', {
      code: 500,
      type: 'server_error',
    }),
    SINGLE,
  ],
  ['Llama 3 behind vLLM', 400, object('This model only supports single tool-calls at once!'), SINGLE],
  ['Gemma behind vLLM', 400, object('System role not supported', { code: 400 }), NO_SYSTEM],
  [
    'Mistral 7B behind llama.cpp',
    500,
    plain('Error: Jinja Exception: Only user and assistant roles are supported!', { code: 500, type: 'server_error' }),
    NO_SYSTEM,
  ],
  [
    'Mistral 7B behind vLLM',
    400,
    object('Conversation roles must alternate user/assistant/user/assistant/...'),
    NO_SYSTEM,
  ],
  ['a model without a system prompt', 400, plain('This model does not support system messages.'), NO_SYSTEM],
  [
    'a server of pydantic',
    422,
    {
      detail: [
        {
          type: 'string_type',
          loc: ['body', 'messages', 2, 'content'],
          msg: 'Input should be a valid string',
          input: null,
        },
      ],
    },
    NO_NULL,
  ],
  [
    'vLLM',
    400,
    object(
      "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 16384 tokens and your request has 1200 input tokens (32000 > 16384 - 1200).",
    ),
    wantsCap(16384 - 1200),
  ],
  [
    'vLLM 0.20',
    400,
    object(
      "This model's maximum context length is 40000 tokens. However, you requested 32000 output tokens and your prompt contains at least 9000 input tokens, for a total of at least 41000 tokens.",
    ),
    wantsCap(31_000),
  ],
  [
    'vLLM before 0.6',
    400,
    object(
      "This model's maximum context length is 8192 tokens. However, you requested 33200 tokens (1200 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
    ),
    wantsCap(8192 - 1200),
  ],
  [
    'TGI',
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1200 `inputs` tokens and 32000 `max_new_tokens`',
      error_type: 'validation',
    },
    wantsCap(4096 - 1200),
  ],
  [
    'a gateway before OpenAI',
    400,
    plain(
      'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
      { param: 'max_tokens' },
    ),
    wantsCap(16384),
  ],
  [
    'a gateway before Anthropic',
    400,
    plain('max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-haiku'),
    wantsCap(8192),
  ],
  [
    'a gateway before DeepSeek',
    400,
    plain('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'),
    wantsCap(8192),
  ],
]

describe('a refusal is learnt from by what it names', () => {
  it.each(REFUSALS)('%s, status %i', async (_server, status, refusal, wants) => {
    const server = await serveModel((body) => (wants(body) ? text('ok') : { status, body: refusal }))
    const overrides = { model_list: [], credentials: { CUSTOM_OPENAI_API_BASE: server.url } }
    const model = 'custom_openai/m'
    const config = modelConfig('', { ...overrides, model, small_model: model })
    const llm = createLlmClient(config, { fetch, log: silentLogger, backoffMs: 1 })
    expect((await llm.complete(REQUEST)).text).toBe('ok')
    await llm.complete(REQUEST)
    // Refused once, and then never again.
    expect(server.requests).toHaveLength(3)
  })

  it.each([
    ['the reason is another', 400, 'The model does not exist.'],
    ['the server failed', 500, 'temperature sensor of the machine'],
  ])('nothing is left out when %s', async (_name, status, message) => {
    const server = await serveModel(() => ({ status, body: plain(message) }))
    const model = 'custom_openai/m'
    const config = modelConfig('', { model, small_model: model, credentials: { CUSTOM_OPENAI_API_BASE: server.url } })
    const llm = createLlmClient(config, { fetch, log: silentLogger, backoffMs: 1 })
    await expect(llm.complete(REQUEST)).rejects.toThrow(message)
    expect(server.requests.every(({ body }) => body.temperature === 0.1)).toBe(true)
  })
})

describe('what is sent in any case', () => {
  it('are arguments that are an object, although the model wrote another thing', async () => {
    const server = await serveModel(() => text('ok'))
    const llm = createLlmClient(modelConfig(server.url), { fetch, log: silentLogger, backoffMs: 1 })
    await llm.complete(REQUEST)
    const call = server.requests[0]?.body.messages[2]?.tool_calls?.[0]
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ invalid_arguments: '{"a": ' })
  })

  it('is an answer of at most half of a configured context window', async () => {
    const server = await serveModel(() => text('ok'))
    const config = modelConfig(server.url, { context_tokens: 16_000 })
    await createLlmClient(config, { fetch, log: silentLogger }).complete(REQUEST)
    expect(server.requests[0]?.body.max_tokens).toBe(8_000)
  })
})
