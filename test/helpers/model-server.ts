import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach } from 'vitest'
import type { LlmConfig } from '../../config/types.ts'
import { listen } from '../../dev/server.ts'
import { silentLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import type { LlmClient } from '../../src/llm/inference.ts'

/** An OpenAI-compatible server on a free loopback port with scripted answers. */
export interface ModelServer {
  /** Base URL for `OPENAI_BASE_URL` or `api_base`. */
  url: string
  requests: ModelRequest[]
  close(): Promise<void>
}

export interface ModelRequest {
  path: string
  headers: IncomingMessage['headers']
  body: ChatBody
}

/** The parts of a chat-completions body that tests look at. */
export interface ChatBody {
  model: string
  messages: {
    role: string
    content: string | null
    tool_call_id?: string
    tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  }[]
  tools?: { type: string; function: { name: string; description: string; parameters: Record<string, unknown> } }[]
  [parameter: string]: unknown
}

export interface ModelAnswer {
  message: {
    content: string | null
    tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  }
  finish_reason: string
  usage?: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details?: { cached_tokens: number } }
}
/** A body that is a string is sent unchanged, with the content type of the headers or `text/html`. */
export interface RawAnswer {
  status: number
  body: unknown
  headers?: Record<string, string>
}
/** `hang` never answers; `cut` breaks the connection in the middle of the body. */
export type ModelReply = ModelAnswer | RawAnswer | 'hang' | 'cut'
export type ModelHandler = (body: ChatBody, index: number, request: ModelRequest) => ModelReply | Promise<ModelReply>

/** Starts a model server. `index` counts the calls from 0. */
export async function startModelServer(handler: ModelHandler): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const server = createServer(async (incoming, outgoing) => {
    const body = JSON.parse(await textOf(incoming))
    const request: ModelRequest = { path: incoming.url ?? '', headers: incoming.headers, body }
    const index = requests.push(request) - 1
    try {
      answer(outgoing, await handler(body, index, request), body, index)
    } catch (error) {
      // 400 is not retried, so the failing test shows the message.
      answer(outgoing, { status: 400, body: { error: { message: `model server: ${error}` } } }, body, index)
    }
  })
  const { url, close } = await listen(server)
  return { url: `${url}/v1`, requests, close }
}

/** Gives the replies in turn and repeats the last one. */
export const script =
  (...replies: ModelReply[]): ModelHandler =>
  (_body, index) => {
    const reply = replies[Math.min(index, replies.length - 1)]
    if (reply === undefined) throw new Error('the script is empty')
    return reply
  }

const USAGE = { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 40 } }

export const text = (content: string, finish_reason = 'stop'): ModelAnswer => ({
  message: { content },
  finish_reason,
  usage: USAGE,
})

/** Makes one call. Arguments that are a string are sent verbatim, valid JSON or not. */
export const toolCall = (name: string, args: unknown): ModelAnswer => toolCalls([name, args])

export const toolCalls = (...calls: [name: string, args: unknown][]): ModelAnswer => ({
  message: {
    content: null,
    tool_calls: calls.map(([name, args]) => ({
      id: `call_${crypto.randomUUID()}`,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    })),
  },
  finish_reason: 'tool_calls',
  usage: USAGE,
})

/** Makes a configuration whose two models are at this server, through provider `openai`. */
export const modelConfig = (url: string, overrides: Partial<LlmConfig> = {}): LlmConfig => ({
  model: 'openai/main-model',
  small_model: 'openai/small-model',
  web_search_model: '',
  temperature: 0.1,
  max_output_tokens: 32_000,
  timeout: 10,
  stream: true,
  stream_idle_timeout: 10,
  model_list: [],
  context_tokens: 0,
  max_session_tokens: 0,
  budget: {},
  record_folder: '',
  prices: {},
  credentials: { OPENAI_API_KEY: 'test-key-material', OPENAI_BASE_URL: url },
  ...overrides,
})

/** Creates a client whose requests the tests intercept. */
export const interceptedLlm = (overrides: Partial<LlmConfig>, log = silentLogger): LlmClient =>
  createLlmClient(modelConfig('', overrides), { fetch: (...args) => fetch(...args), log, backoffMs: 1 })

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function answer(outgoing: ServerResponse, reply: ModelReply, body: ChatBody, index: number): void {
  if (reply === 'hang') return
  if (reply === 'cut') {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    outgoing.write('{"choices":', () => outgoing.destroy())
    return
  }
  if ('status' in reply) {
    const plain = typeof reply.body === 'string'
    outgoing.writeHead(reply.status, { 'content-type': plain ? 'text/html' : 'application/json', ...reply.headers })
    outgoing.end(plain ? reply.body : JSON.stringify(reply.body))
    return
  }
  const { message, finish_reason, usage } = reply
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  outgoing.end(
    JSON.stringify({
      id: `chatcmpl-${index}`,
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: body.model,
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
      usage,
    }),
  )
}

/** Provides a function that starts model servers, which are closed after the test. */
export function provideModelServers(): typeof startModelServer {
  const servers: ModelServer[] = []
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()))
  })
  return async (...given) => {
    const server = await startModelServer(...given)
    servers.push(server)
    return server
  }
}
