import type { ModelListEntry } from '../../config/types.ts'
import type { FormName } from './wire-forms.ts'

/** One provider as documented: address, authentication and request form. */
export interface Case {
  model: string
  variables: Record<string, string>
  /** Parameters beside the model, for an entry of the list. */
  params?: Omit<ModelListEntry['litellm_params'], 'model'>
  url: string
  /** The address of streams, if that is another one. */
  stream_url?: string
  headers: Record<string, string | RegExp>
  form: FormName
  /** The model name in the body; undefined for forms that have it in the path. */
  body_model?: string
  /** An error answer of the provider, and the text shown for it. */
  error: { status: number; body: unknown; shown: string }
}

/** Makes an error of which this text is shown; `bodyOf` puts it into the form of the provider. */
const refusal = (status: number, shown: string, bodyOf: (message: string) => unknown): Case['error'] => ({
  status,
  body: bodyOf(shown),
  shown,
})

const openaiError = refusal(400, 'the reason', (message) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
}))
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const VERTEX = { VERTEXAI_PROJECT: 'acme', VERTEXAI_LOCATION: 'europe-west1', GOOGLE_OAUTH_ACCESS_TOKEN: 'ya29.token' }
const VERTEX_PLACE = 'https://europe-west1-aiplatform.googleapis.com/v1/projects/acme/locations/europe-west1'
const AZURE = {
  AZURE_API_BASE: 'https://acme.openai.azure.com/',
  AZURE_API_VERSION: '2024-10-21',
  AZURE_API_KEY: 'azure-key',
}
const azureError = refusal(
  400,
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
  (message) => ({
    error: {
      message,
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  }),
)
const googleError = refusal(400, 'API key not valid. Please pass a valid API key.', (message) => [
  { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
])
const anthropicError = refusal(404, 'model: claude-x', (message) => ({
  type: 'error',
  error: { type: 'not_found_error', message },
  request_id: 'req_1',
}))

const plain = (
  model: string,
  variable: string,
  url: string,
  error: Case['error'] = openaiError,
  more: Partial<Case> = {},
): Case => ({
  model,
  variables: { [variable]: 'provider-key' },
  url,
  headers: bearer('provider-key'),
  form: 'chat',
  body_model: model.slice(model.indexOf('/') + 1),
  error,
  ...more,
})

export const CASES: readonly Case[] = [
  plain('openai/gpt-4o', 'OPENAI_API_KEY', 'https://api.openai.com/v1/chat/completions'),
  {
    model: 'azure/large',
    variables: AZURE,
    url: 'https://acme.openai.azure.com/openai/deployments/large/chat/completions?api-version=2024-10-21',
    headers: { 'api-key': 'azure-key' },
    form: 'chat',
    error: azureError,
  },
  {
    model: 'azure/large',
    variables: { ...AZURE, AZURE_API_VERSION: 'preview', AZURE_API_KEY: '', AZURE_AD_TOKEN: 'entra-token' },
    url: 'https://acme.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    headers: bearer('entra-token'),
    form: 'chat',
    body_model: 'large',
    error: azureError,
  },
  {
    model: 'anthropic/claude-haiku-4-5',
    variables: { ANTHROPIC_API_KEY: 'anthropic-key' },
    url: 'https://api.anthropic.com/v1/messages',
    headers: { 'x-api-key': 'anthropic-key', 'anthropic-version': '2023-06-01' },
    form: 'anthropic',
    body_model: 'claude-haiku-4-5',
    error: anthropicError,
  },
  {
    model: 'gemini/gemini-3.8-flash',
    variables: { GEMINI_API_KEY: 'gemini-key' },
    url: 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    headers: bearer('gemini-key'),
    form: 'chat',
    body_model: 'gemini-3.8-flash',
    error: googleError,
  },
  {
    model: 'gemini/gemini-3.8-flash',
    variables: { GEMINI_API_KEY: 'gemini-key' },
    params: { wire: 'gemini' },
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent',
    stream_url:
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': 'gemini-key' },
    form: 'gemini',
    error: refusal(400, 'Please ensure that the function turns alternate.', (message) => ({
      error: { code: 400, message, status: 'INVALID_ARGUMENT' },
    })),
  },
  {
    model: 'vertex_ai/gemini-3.8-flash',
    variables: VERTEX,
    url: `${VERTEX_PLACE}/endpoints/openapi/chat/completions`,
    headers: bearer('ya29.token'),
    form: 'chat',
    body_model: 'google/gemini-3.8-flash',
    error: refusal(404, 'Publisher Model was not found.', (message) => [
      { error: { code: 404, message, status: 'NOT_FOUND' } },
    ]),
  },
  {
    model: 'vertex_ai/claude-sonnet-5-5',
    variables: { ...VERTEX, VERTEXAI_LOCATION: 'global' },
    url:
      'https://aiplatform.googleapis.com/v1/projects/acme/locations/global/publishers/anthropic/models/' +
      'claude-sonnet-5-5:rawPredict',
    stream_url:
      'https://aiplatform.googleapis.com/v1/projects/acme/locations/global/publishers/anthropic/models/' +
      'claude-sonnet-5-5:streamRawPredict',
    headers: bearer('ya29.token'),
    form: 'anthropic',
    error: anthropicError,
  },
  {
    model: 'vertex_ai/claude-sonnet-4-5@20250929',
    variables: { ...VERTEX, VERTEXAI_LOCATION: 'eu' },
    url:
      'https://aiplatform.eu.rep.googleapis.com/v1/projects/acme/locations/eu/publishers/anthropic/models/' +
      'claude-sonnet-4-5@20250929:rawPredict',
    stream_url:
      'https://aiplatform.eu.rep.googleapis.com/v1/projects/acme/locations/eu/publishers/anthropic/models/' +
      'claude-sonnet-4-5@20250929:streamRawPredict',
    headers: bearer('ya29.token'),
    form: 'anthropic',
    error: anthropicError,
  },
  {
    model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    variables: { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key', AWS_REGION: 'eu-central-1' },
    url:
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/' +
      'converse',
    stream_url:
      'https://bedrock-runtime.eu-central-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/' +
      'converse-stream',
    headers: bearer('bedrock-key'),
    form: 'converse',
    error: refusal(400, 'The provided model identifier is invalid.', (message) => ({ message })),
  },
  {
    model: 'bedrock/amazon.nova-pro-v1:0',
    variables: {},
    params: { aws_access_key_id: 'AKIAEXAMPLE', aws_secret_access_key: 'secret-of-aws', aws_region_name: 'us-east-1' },
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse',
    stream_url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse-stream',
    headers: {
      authorization:
        /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date, Signature=[0-9a-f]{64}$/,
      'x-amz-date': /^\d{8}T\d{6}Z$/,
    },
    form: 'converse',
    error: refusal(403, 'User is not authorized to perform: bedrock:InvokeModel', (Message) => ({ Message })),
  },
  plain('mistral/mistral-large-latest', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1/chat/completions', {
    status: 422,
    body: {
      object: 'error',
      message: { detail: [{ type: 'missing', loc: ['body', 'messages'], msg: 'Field required' }] },
      type: 'invalid_request_error',
    },
    shown: 'messages: Field required',
  }),
  plain(
    'groq/openai/gpt-oss-120b',
    'GROQ_API_KEY',
    'https://api.groq.com/openai/v1/chat/completions',
    refusal(
      400,
      "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      (message) => ({
        error: { message, type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: '<function=x>' },
      }),
    ),
  ),
  plain(
    'deepseek/deepseek-chat',
    'DEEPSEEK_API_KEY',
    'https://api.deepseek.com/chat/completions',
    refusal(402, 'Insufficient Balance', (message) => ({
      error: { message, type: 'unknown_error', param: null, code: 'invalid_request_error' },
    })),
  ),
  plain('xai/grok-4.6', 'XAI_API_KEY', 'https://api.x.ai/v1/chat/completions', {
    status: 400,
    body: { code: 'Client specified an invalid argument', error: 'Model not found: grok-x' },
    shown: 'Model not found: grok-x',
  }),
  plain('openrouter/anthropic/claude-sonnet-5', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1/chat/completions', {
    status: 400,
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: 'prompt is too long', provider_name: 'X' },
      },
      user_id: 'user_1',
    },
    shown: 'Provider returned error: prompt is too long',
  }),
  plain('together_ai/openai/gpt-oss-120b', 'TOGETHERAI_API_KEY', 'https://api.together.ai/v1/chat/completions'),
  plain(
    'fireworks_ai/accounts/fireworks/models/kimi',
    'FIREWORKS_API_KEY',
    'https://api.fireworks.ai/inference/v1/chat/completions',
  ),
  plain('cohere/command-a-03-2025', 'COHERE_API_KEY', 'https://api.cohere.ai/compatibility/v1/chat/completions', {
    status: 401,
    body: { id: '1', message: 'invalid api token' },
    shown: 'invalid api token',
  }),
  plain('perplexity/sonar', 'PERPLEXITYAI_API_KEY', 'https://api.perplexity.ai/chat/completions', {
    status: 400,
    body: { error: { message: 'Invalid model', type: 'invalid_model', code: 400 } },
    shown: 'Invalid model',
  }),
  plain('ollama/qwen3', 'OLLAMA_API_KEY', 'http://ollama.example:11434/v1/chat/completions', openaiError, {
    variables: { OLLAMA_API_BASE: 'http://ollama.example:11434', OLLAMA_API_KEY: 'provider-key' },
    error: refusal(404, 'model "qwen3" not found, try pulling it first', (message) => ({
      error: { message, type: 'api_error', param: null, code: null },
    })),
  }),
  plain('hosted_vllm/qwen', 'HOSTED_VLLM_API_KEY', 'http://vllm.example:8000/v1/chat/completions', openaiError, {
    variables: { HOSTED_VLLM_API_BASE: 'http://vllm.example:8000', HOSTED_VLLM_API_KEY: 'provider-key' },
    error: refusal(400, 'auto tool choice requires --enable-auto-tool-choice', (message) => ({
      object: 'error',
      message,
      type: 'BadRequestError',
      code: 400,
    })),
  }),
  plain('custom_openai/own', 'X', 'https://models.example.com/api/chat/completions', openaiError, {
    variables: { OWN_KEY: 'provider-key' },
    params: { api_base: 'https://models.example.com/api/', api_key: 'os.environ/OWN_KEY' },
    error: { status: 403, body: { detail: 'Forbidden for this key' }, shown: 'Forbidden for this key' },
  }),
  {
    model: 'anthropic/claude-sonnet-5',
    variables: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'https://gateway.example.com' },
    url: 'https://gateway.example.com/v1/chat/completions',
    headers: bearer('k'),
    form: 'chat',
    body_model: 'claude-sonnet-5',
    error: openaiError,
  },
  {
    model: 'anthropic/claude-sonnet-5',
    variables: { GATEWAY: 'k' },
    params: { api_base: 'https://gateway.example.com/anthropic/v1', wire: 'anthropic', api_key: 'os.environ/GATEWAY' },
    url: 'https://gateway.example.com/anthropic/v1/messages',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
    form: 'anthropic',
    body_model: 'claude-sonnet-5',
    error: anthropicError,
  },
]
