import { CALLS, MODEL_SETTINGS, QUESTION, RESULTS, SAID, SYSTEM, TOOLS } from '../conversation.ts'
import { type Loose, sdk } from '../sdks.ts'
import type { Oracle } from './types.ts'

const FINISH: Record<string, string> = {
  end_turn: 'end_turn',
  stop_sequence: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
}
export const KEYS = {
  accessKeyId: 'AKIAEXAMPLEEXAMPLE',
  secretAccessKey: 'secret-of-aws',
  sessionToken: 'session+token/==',
}
const REGION = 'eu-central-1'

export const readConverse = ({ output, stopReason, usage }: Loose) => ({
  text: output.message.content.map((block: Loose) => block.text ?? '').join(''),
  calls: output.message.content.flatMap(({ toolUse }: Loose) =>
    toolUse ? [{ name: toolUse.name, args: toolUse.input as unknown }] : [],
  ),
  finish: FINISH[stopReason] ?? null,
  input: usage.inputTokens + (usage.cacheReadInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0),
  cached: usage.cacheReadInputTokens ?? 0,
  output: usage.outputTokens,
})

export const converseAnswer = (content: object[], stopReason: string) => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: {
    inputTokens: 60,
    outputTokens: 23,
    totalTokens: 213,
    cacheReadInputTokens: 100,
    cacheWriteInputTokens: 30,
  },
  metrics: { latencyMs: 1275 },
})

/** Over HTTP/1.1, because requests over HTTP/2 are not seen by the interceptor. */
export function bedrockClient(options: object = {}): Loose {
  const { NodeHttpHandler } = sdk('@smithy/node-http-handler')
  const { BedrockRuntimeClient } = sdk('@aws-sdk/client-bedrock-runtime')
  return new BedrockRuntimeClient({
    region: REGION,
    credentials: KEYS,
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
    ...options,
  })
}

const calls = CALLS.map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } }))
const results = CALLS.map(({ id }, index) => ({ toolResult: { toolUseId: id, content: [{ text: RESULTS[index] }] } }))
const CACHE_POINT = { cachePoint: { type: 'default' } }

function converseOracle(name: string, modelId: string, key: string | null): Oracle {
  const caches = modelId.includes('claude') ? [CACHE_POINT] : []
  const params = {
    aws_region_name: REGION,
    ...(key === null && {
      aws_access_key_id: KEYS.accessKeyId,
      aws_secret_access_key: KEYS.secretAccessKey,
      aws_session_token: KEYS.sessionToken,
    }),
  }
  const credentials = key === null ? undefined : { AWS_BEARER_TOKEN_BEDROCK: key }
  const identity = key === null ? {} : { token: async () => ({ token: key }), authSchemePreference: ['httpBearerAuth'] }
  const converse = (messages: object[], maxAttempts = 1) =>
    bedrockClient({ ...identity, maxAttempts }).send(
      new (sdk('@aws-sdk/client-bedrock-runtime').ConverseCommand)({
        modelId,
        messages,
        system: [{ text: SYSTEM }, ...caches],
        inferenceConfig: { maxTokens: MODEL_SETTINGS.max_output_tokens, temperature: MODEL_SETTINGS.temperature },
        toolConfig: {
          tools: TOOLS.map(({ name, description, parameters }) => ({
            toolSpec: { name, description, inputSchema: { json: parameters } },
          })),
          toolChoice: { auto: {} },
        },
      }),
    )
  return {
    name,
    ours: { model: `bedrock/${modelId}`, credentials, params },
    called: converseAnswer(
      [
        {
          reasoningContent: {
            reasoningText: { text: 'Both files are asked for.', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
          },
        },
        { text: SAID },
        ...calls,
      ],
      'tool_use',
    ),
    begin: ({ maxRetries = 0 } = {}) =>
      converse([{ role: 'user', content: [{ text: QUESTION }, ...caches] }], maxRetries + 1),
    goOn: ({ output }) =>
      converse([
        { role: 'user', content: [{ text: QUESTION }, ...caches] },
        output.message,
        { role: 'user', content: [...results, ...caches] },
      ]),
    read: readConverse,
    headers: key === null ? ['x-amz-security-token'] : ['authorization'],
    allowed: {},
  }
}

const CLAUDE = 'eu.anthropic.claude-haiku-4-5-20251001-v1:0'
export const BEDROCK: readonly Oracle[] = [
  converseOracle('bedrock Claude with a key by the client of AWS', CLAUDE, 'bedrock-key'),
  converseOracle('bedrock Claude, signed, by the client of AWS', CLAUDE, null),
  converseOracle('bedrock Nova, signed, by the client of AWS', 'amazon.nova-pro-v1:0', null),
  converseOracle(
    'bedrock inference profile, signed, by the client of AWS',
    `arn:aws:bedrock:${REGION}:123456789012:application-inference-profile/ab12cd34ef56`,
    null,
  ),
]
