import { CALLS, MODEL_SETTINGS, QUESTION, RESULTS, SAID, SYSTEM, TOOLS } from '../conversation.ts'
import { type Loose, sdk } from '../sdks.ts'
import type { Oracle } from './types.ts'

const CACHED = { cache_control: { type: 'ephemeral' } }
const FINISH: Record<string, string> = {
  end_turn: 'end_turn',
  stop_sequence: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  refusal: 'content_filter',
}

export const readMessage = ({ content, stop_reason, usage }: Loose) => ({
  text: content.flatMap((block: Loose) => (block.type === 'text' ? [block.text] : [])).join(''),
  calls: content.flatMap((block: Loose) =>
    block.type === 'tool_use' ? [{ name: block.name, args: block.input as unknown }] : [],
  ),
  finish: FINISH[stop_reason] ?? null,
  input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
  cached: usage.cache_read_input_tokens ?? 0,
  output: usage.output_tokens,
})

export const messageAnswer = (content: object[], stop_reason: string, rest: object = {}) => ({
  id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content,
  stop_reason,
  stop_sequence: null,
  usage: {
    input_tokens: 60,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 100,
    cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
    output_tokens: 23,
    service_tier: 'standard',
  },
  ...rest,
})

export const messageCalls = CALLS.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))

const settings = {
  max_tokens: MODEL_SETTINGS.max_output_tokens,
  temperature: MODEL_SETTINGS.temperature,
  system: [{ type: 'text', text: SYSTEM, ...CACHED }],
  tools: TOOLS.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
  tool_choice: { type: 'auto' },
}
const question = { type: 'text', text: QUESTION }
const results = CALLS.map(({ id }, index) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: RESULTS[index],
  ...(index === CALLS.length - 1 && CACHED),
}))

function messagesOracle(
  name: string,
  ours: Oracle['ours'],
  client: (options: { maxRetries: number }) => Loose,
  headers: string[],
  allowed: Oracle['allowed'],
): Oracle {
  const model = ours.model.slice(ours.model.indexOf('/') + 1)
  const create = (messages: object[], maxRetries = 0) =>
    client({ maxRetries }).messages.create({ model, ...settings, messages })
  return {
    name,
    ours,
    called: messageAnswer(
      [
        { type: 'thinking', thinking: 'Both files are asked for.', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/LafPsn4a' },
        { type: 'text', text: SAID },
        ...messageCalls,
      ],
      'tool_use',
    ),
    begin: ({ maxRetries } = {}) => create([{ role: 'user', content: [{ ...question, ...CACHED }] }], maxRetries),
    goOn: ({ content }) =>
      create([
        { role: 'user', content: [{ ...question, ...CACHED }] },
        { role: 'assistant', content },
        { role: 'user', content: results },
      ]),
    read: readMessage,
    headers,
    allowed,
  }
}

const VERSION =
  'we name version 2023-06-01, which stays as it is and takes a temperature; 2026-10-21 refuses one for every model'

const vertex = (region: string) => (options: object) =>
  new (sdk('@anthropic-ai/vertex-sdk').AnthropicVertex)({
    region,
    projectId: 'acme',
    authClient: { getRequestHeaders: async () => new Headers({ authorization: 'Bearer ya29.token' }) },
    ...options,
  })
const onVertex = (model: string, location: string): Oracle =>
  messagesOracle(
    `vertex_ai/${model} in ${location} by the client of Anthropic for Vertex AI`,
    {
      model: `vertex_ai/${model}`,
      credentials: {
        VERTEXAI_PROJECT: 'acme',
        VERTEXAI_LOCATION: location,
        GOOGLE_OAUTH_ACCESS_TOKEN: 'ya29.token',
      },
    },
    vertex(location),
    ['authorization'],
    { '^anthropic_version$': VERSION },
  )

export const ANTHROPIC: readonly Oracle[] = [
  messagesOracle(
    'anthropic/claude-haiku-4-5 by the client of Anthropic',
    { model: 'anthropic/claude-haiku-4-5', credentials: { ANTHROPIC_API_KEY: 'key' } },
    (options) => new (sdk('@anthropic-ai/sdk').Anthropic)({ apiKey: 'key', ...options }),
    ['x-api-key', 'anthropic-version', 'anthropic-beta', 'authorization'],
    {
      '^headers\\.anthropic-version$': VERSION,
      '^headers\\.(x-api-key|authorization)$':
        'the client sends the key as bearer since version 1; the interface takes both, and gateways know the other one',
    },
  ),
  onVertex('claude-haiku-4-5@20251001', 'europe-west1'),
  onVertex('claude-haiku-4-5', 'global'),
  onVertex('claude-haiku-4-5', 'us'),
]
