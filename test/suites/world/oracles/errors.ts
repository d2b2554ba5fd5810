import type { Reply } from './exchange.ts'

/** An error as the documentation of a provider shows it. */
export interface DocumentedError {
  client: 'openai' | 'groq' | 'anthropic' | 'google' | 'bedrock' | 'mistral'
  what: string
  reply: Reply
  /** The provider's words, which both sides must pass on. */
  says: string
  /** Why only one of the two tries once more. */
  differs?: string
  /** The client repeats nothing at all by itself. */
  never_repeats?: boolean
  /** Milliseconds that both wait before they try once more. */
  waits?: number
}

const openai = (status: number, type: string, code: string | null, says: string, headers?: Reply['headers']) => ({
  says,
  reply: { status, headers, body: { error: { message: says, type, param: null, code } } },
})
const anthropic = (status: number, type: string, says: string, headers?: Reply['headers']) => ({
  says,
  reply: {
    status,
    headers,
    body: { type: 'error', error: { type, message: says }, request_id: 'req_011CSHoEeqs5C35K2' },
  },
})
const google = (code: number, status: string, says: string, details: object[] = []) => ({
  never_repeats: true,
  says,
  reply: { status: code, body: { error: { code, message: says, status, details } } },
})
const bedrock = (status: number, name: string, says: string) => ({
  says,
  reply: {
    status,
    headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/` },
    body: { message: says },
  },
})
const mistral = (status: number, type: string, says: string) => ({
  never_repeats: true,
  says,
  reply: { status, body: { object: 'error', message: says, type, param: null, code: '3505' } },
})
const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })
const RATE = 'Rate limit reached for gpt-4o in organization org-x on tokens per min.'
const WAITING_HELPS =
  'a model that did not answer in time may do so at the next attempt; the client leaves it to its caller'

export const ERRORS: readonly DocumentedError[] = [
  {
    client: 'openai',
    what: 'an unknown key',
    ...openai(401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key.'),
  },
  {
    client: 'openai',
    what: 'a context that is too long',
    ...openai(
      400,
      'invalid_request_error',
      'context_length_exceeded',
      "This model's maximum context length is 128000 tokens.",
    ),
  },
  {
    client: 'openai',
    what: 'an unknown model',
    ...openai(404, 'invalid_request_error', 'model_not_found', 'The model `x` does not exist.'),
  },
  {
    client: 'openai',
    what: 'a rate limit',
    waits: 7_000,
    ...openai(429, 'tokens', 'rate_limit_exceeded', RATE, { 'retry-after': '7' }),
  },
  {
    client: 'openai',
    what: 'a rate limit in milliseconds',
    waits: 1_530,
    ...openai(429, 'tokens', 'rate_limit_exceeded', RATE, { 'retry-after': '2', 'retry-after-ms': '1530' }),
  },
  {
    client: 'openai',
    what: 'an exhausted budget',
    ...openai(429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.', {
      'x-should-retry': 'false',
    }),
  },
  { client: 'openai', what: 'a fault of the server', ...openai(500, 'server_error', null, 'The server had an error.') },
  {
    client: 'openai',
    what: 'an overloaded server',
    ...openai(503, 'server_error', null, 'The engine is currently overloaded.'),
  },
  {
    client: 'groq',
    what: 'a rate limit',
    waits: 2_000,
    ...openai(429, 'tokens', 'rate_limit_exceeded', 'Rate limit reached for model.', { 'retry-after': '2' }),
  },
  {
    client: 'groq',
    what: 'no capacity for the flexible tier',
    ...openai(498, 'capacity', 'capacity_exceeded', 'Flex tier capacity exceeded.'),
  },
  {
    client: 'groq',
    what: 'a call that cannot be parsed',
    ...openai(400, 'invalid_request_error', 'tool_use_failed', 'Failed to call a function.'),
  },
  { client: 'anthropic', what: 'an unknown key', ...anthropic(401, 'authentication_error', 'invalid x-api-key') },
  {
    client: 'anthropic',
    what: 'a context that is too long',
    ...anthropic(400, 'invalid_request_error', 'prompt is too long: 210034 tokens > 200000 maximum'),
  },
  {
    client: 'anthropic',
    what: 'a request that is too large',
    ...anthropic(413, 'request_too_large', 'Request exceeds the maximum size'),
  },
  {
    client: 'anthropic',
    what: 'no permission',
    ...anthropic(403, 'permission_error', 'Your API key may not use this model.'),
  },
  {
    client: 'anthropic',
    what: 'a rate limit',
    waits: 12_000,
    ...anthropic(429, 'rate_limit_error', 'This request would exceed your rate limit.', { 'retry-after': '12' }),
  },
  {
    client: 'anthropic',
    what: 'an exhausted budget',
    ...anthropic(429, 'rate_limit_error', 'You have reached your spend limit.', { 'x-should-retry': 'false' }),
  },
  {
    client: 'anthropic',
    what: 'an overloaded server',
    ...anthropic(529, 'overloaded_error', 'Overloaded', { 'x-should-retry': 'true' }),
  },
  { client: 'anthropic', what: 'a fault of the server', ...anthropic(500, 'api_error', 'Internal server error') },
  { client: 'anthropic', what: 'a server that took too long', ...anthropic(504, 'timeout_error', 'Request timed out') },
  {
    client: 'google',
    what: 'an unknown key',
    ...google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
  },
  {
    client: 'google',
    what: 'a rate limit of a minute',
    waits: 46_000,
    ...google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
      retryInfo('46s'),
    ]),
  },
  {
    client: 'google',
    what: 'an overloaded model',
    ...google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  },
  {
    client: 'google',
    what: 'a context that is too long',
    ...google(400, 'INVALID_ARGUMENT', 'The input token count exceeds the maximum number of tokens allowed 1048576.'),
  },
  {
    client: 'bedrock',
    what: 'throttling',
    ...bedrock(429, 'ThrottlingException', 'Too many tokens, please wait before trying again.'),
  },
  {
    client: 'bedrock',
    what: 'an invalid request',
    ...bedrock(400, 'ValidationException', 'Input is too long for requested model.'),
  },
  {
    client: 'bedrock',
    what: 'no access',
    ...bedrock(403, 'AccessDeniedException', "You don't have access to the model."),
  },
  {
    client: 'bedrock',
    what: 'an expired key',
    ...bedrock(403, 'ExpiredTokenException', 'The security token included in the request is expired'),
  },
  {
    client: 'bedrock',
    what: 'a model that starts',
    ...bedrock(429, 'ModelNotReadyException', 'The model is not ready.'),
  },
  {
    client: 'bedrock',
    what: 'a model that took too long',
    differs: WAITING_HELPS,
    ...bedrock(408, 'ModelTimeoutException', 'The model timed out.'),
  },
  {
    client: 'bedrock',
    what: 'a model that failed',
    ...bedrock(424, 'ModelErrorException', 'The request failed due to an error while processing the model.'),
  },
  {
    client: 'bedrock',
    what: 'a service that is away',
    ...bedrock(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'),
  },
  {
    client: 'bedrock',
    what: 'a fault of the server',
    ...bedrock(500, 'InternalServerException', 'An internal server error occurred.'),
  },
  {
    client: 'mistral',
    what: 'no capacity',
    ...mistral(429, 'service_tier_capacity_exceeded', 'Service tier capacity exceeded for this model.'),
  },
  { client: 'mistral', what: 'an unknown model', ...mistral(400, 'invalid_model', 'Invalid model: x') },
  {
    client: 'mistral',
    what: 'an unknown key',
    never_repeats: true,
    says: 'Unauthorized',
    reply: { status: 401, body: { detail: 'Unauthorized' } },
  },
]
