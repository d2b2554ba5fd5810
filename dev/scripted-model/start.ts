import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { BodyTooLarge, listen, type Running, readBody } from '../server.ts'
import { type ChatRequest, type Reply, readConversation } from './conversation.ts'
import { decide } from './decide.ts'

export const MODEL = 'scripted-model'

/** Four characters a token: the usual rule of thumb. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value ?? '').length / 4)

/**
 * A server of the chat-completions dialect that plays recorded work and says so in the model name of
 * its answers. Same conversation, same reply; nothing is remembered between requests.
 * @param options.delay_ms thinking time before each answer
 */
export async function startScriptedModel(options: { port?: number; delay_ms?: number } = {}): Promise<Running> {
  const server = createServer(async (request, response) => {
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const refuse = (status: number, message: string) => reply(status, { error: { message, type: 'invalid_request_error', code: null } })
    try {
      const path = (request.url ?? '').split('?')[0]
      if (request.method === 'GET' && path === '/v1/models')
        return reply(200, { object: 'list', data: [{ id: MODEL, object: 'model', owned_by: 'embedded-stack' }] })
      if (request.method !== 'POST' || path !== '/v1/chat/completions') return refuse(404, 'only chat completions are served here')
      const body = JSON.parse((await readBody(request, 64 * 1024 * 1024)).toString('utf8')) as ChatRequest & { stream?: boolean }
      if (!Array.isArray(body.messages) || body.messages.length === 0) return refuse(400, 'messages: a non-empty list is required')
      if (body.stream) return refuse(400, 'stream: only whole answers are served here')
      if (options.delay_ms) await new Promise((resolve) => setTimeout(resolve, options.delay_ms))
      reply(200, completion(body, decide(readConversation(body))))
    } catch (error) {
      refuse(error instanceof BodyTooLarge ? 413 : 400, 'the body could not be read')
    }
  })
  return listen(server, { port: options.port })
}

function completion(request: ChatRequest, { text, calls }: Reply) {
  const tool_calls = calls?.map(({ name, args }) => ({
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const message = { role: 'assistant', content: text ?? null, ...(tool_calls && { tool_calls }) }
  const prompt_tokens = tokens(request.messages) + tokens(request.tools)
  const completion_tokens = tokens(text ?? tool_calls)
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: MODEL,
    choices: [{ index: 0, message, logprobs: null, finish_reason: tool_calls ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  }
}
