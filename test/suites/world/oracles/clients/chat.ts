import { CALLS, MODEL_SETTINGS, QUESTION, RESULTS, SAID, SYSTEM, TOOLS } from '../conversation.ts'
import type { Ours } from '../exchange.ts'
import { type Loose, sdk } from '../sdks.ts'
import type { Oracle } from './types.ts'

interface ChatCase {
  name: string
  ours: Ours
  client: (options: { maxRetries: number }) => Loose
  /** Beside model, messages and tools. */
  settings?: object
  /** Fields of the model's own message that must be sent back with it. */
  thought?: object
  /** The same for its first call. */
  callThought?: object
  headers?: string[]
  allowed?: Record<string, string>
}

const FINISH: Record<string, string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'content_filter',
}
const SAMPLED = { max_tokens: MODEL_SETTINGS.max_output_tokens, temperature: MODEL_SETTINGS.temperature }
const tools = TOOLS.map((definition) => ({ type: 'function', function: definition }))
const opening = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: QUESTION },
]

/** An answer as a client of chat completions reads it. */
export const readChat = ({ choices: [choice], usage }: Loose) => ({
  text: choice.message.content ?? choice.message.refusal ?? '',
  calls: (choice.message.tool_calls ?? []).map((call: Loose) => ({
    name: call.function.name,
    args: JSON.parse(call.function.arguments) as unknown,
  })),
  finish: FINISH[choice.finish_reason] ?? null,
  input: usage?.prompt_tokens ?? 0,
  cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
  output: usage?.completion_tokens ?? 0,
})

/** An answer of chat completions; `message` and `rest` replace what stands in it. */
export const chatAnswer = (message: object, finish_reason: string | null, rest: object = {}) => ({
  id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
  object: 'chat.completion',
  created: 1_741_569_952,
  model: 'the-model',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason }],
  usage: {
    prompt_tokens: 190,
    completion_tokens: 23,
    total_tokens: 213,
    prompt_tokens_details: { cached_tokens: 128, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 5, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  },
  service_tier: 'default',
  ...rest,
})

export const chatCalls = (first: object = {}) =>
  CALLS.map(({ id, name, args }, index) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
    ...(index === 0 && first),
  }))

function chatOracle({ name, ours, client, settings, thought = {}, callThought, headers, allowed }: ChatCase): Oracle {
  const model = ours.model.slice(ours.model.indexOf('/') + 1)
  const body = { model, tools, tool_choice: 'auto', ...(settings ?? SAMPLED) }
  const create = (messages: object[], maxRetries = 0) =>
    client({ maxRetries }).chat.completions.create({ ...body, messages })
  return {
    name,
    ours,
    called: chatAnswer({ content: SAID, tool_calls: chatCalls(callThought), ...thought }, 'tool_calls'),
    begin: ({ maxRetries } = {}) => create(opening, maxRetries),
    goOn: (answer) =>
      create([
        ...opening,
        answer.choices[0].message,
        ...CALLS.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: RESULTS[index] })),
      ]),
    read: readChat,
    headers: headers ?? ['authorization'],
    allowed: allowed ?? {},
  }
}

const openai = (baseURL: string) => (options: object) =>
  new (sdk('openai').OpenAI)({ apiKey: 'key', baseURL, ...options })
const plain = (model: string, variable: string, base_url: string, more: Partial<ChatCase> = {}): ChatCase => ({
  name: `${model} by the client of OpenAI`,
  ours: { model, credentials: { [variable]: 'key' } },
  client: openai(base_url),
  ...more,
})
const AZURE = { AZURE_API_BASE: 'https://acme.openai.azure.com', AZURE_API_KEY: 'key' }

/** Providers of chat completions, each by its own client, or by that of OpenAI where its documentation shows that one. */
export const CHAT: readonly Oracle[] = [
  plain('openai/gpt-4o', 'OPENAI_API_KEY', 'https://api.openai.com/v1'),
  plain('openai/gpt-5.2', 'OPENAI_API_KEY', 'https://api.openai.com/v1', {
    settings: { max_completion_tokens: MODEL_SETTINGS.max_output_tokens },
  }),
  {
    name: 'azure/large by the client of Azure OpenAI',
    ours: { model: 'azure/large', credentials: { ...AZURE, AZURE_API_VERSION: '2024-10-21' } },
    client: (options: object) =>
      new (sdk('openai').AzureOpenAI)({
        endpoint: AZURE.AZURE_API_BASE,
        apiKey: 'key',
        apiVersion: '2024-10-21',
        ...options,
      }),
    headers: ['api-key', 'authorization'],
  },
  {
    name: 'groq/openai/gpt-oss-120b by the client of Groq',
    ours: { model: 'groq/openai/gpt-oss-120b', credentials: { GROQ_API_KEY: 'key' } },
    client: (options: object) => new (sdk('groq-sdk').Groq)({ apiKey: 'key', ...options }),
  },
  {
    name: 'together_ai/openai/gpt-oss-120b by the client of Together',
    ours: { model: 'together_ai/openai/gpt-oss-120b', credentials: { TOGETHERAI_API_KEY: 'key' } },
    client: (options: object) => new (sdk('together-ai').default)({ apiKey: 'key', ...options }),
  },
  plain('deepseek/deepseek-chat', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com', {
    thought: { reasoning_content: 'Both files are asked for.' },
  }),
  plain('openrouter/anthropic/claude-sonnet-5', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1', {
    thought: { reasoning_details: [{ type: 'reasoning.encrypted', data: 'AbCd==', id: 'r1', index: 0 }] },
  }),
  plain('xai/grok-4.6', 'XAI_API_KEY', 'https://api.x.ai/v1'),
  plain('gemini/gemini-3.8-flash', 'GEMINI_API_KEY', 'https://generativelanguage.googleapis.com/v1beta/openai/', {
    callThought: { extra_content: { google: { thought_signature: 'CtoBAdHtim9fx==' } } },
  }),
  plain('cohere/command-a-03-2025', 'COHERE_API_KEY', 'https://api.cohere.ai/compatibility/v1', {
    allowed: { '^tool_choice$': 'its interface knows no `auto`; it is what a model does without the field' },
  }),
  plain('fireworks_ai/accounts/fireworks/models/kimi', 'FIREWORKS_API_KEY', 'https://api.fireworks.ai/inference/v1'),
].map(chatOracle)
