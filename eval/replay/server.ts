import { createServer } from 'node:http'
import * as v from 'valibot'
import { BodyTooLarge, listen, type Running, readBody } from '../../dev/server.ts'
import type { Inference, InferenceRequest, Message } from '../../src/llm/types.ts'
import type { ReplayLlm } from './answers.ts'

/** Names of the two models for which the server answers, without their provider. */
export const REPLAY_MODELS = { main: 'replay-main', small: 'replay-small' } as const

const text = v.pipe(
  v.nullish(v.union([v.string(), v.array(v.looseObject({ text: v.optional(v.string(), '') }))]), null),
  v.transform((content) => (Array.isArray(content) ? content.map((part) => part.text).join('') : content)),
)
const chatRequest = v.object({
  model: v.picklist(Object.values(REPLAY_MODELS)),
  messages: v.array(
    v.looseObject({
      role: v.picklist(['system', 'developer', 'user', 'assistant', 'tool']),
      content: text,
      tool_call_id: v.optional(v.string(), ''),
      tool_calls: v.nullish(
        v.array(v.object({ id: v.string(), function: v.object({ name: v.string(), arguments: v.string() }) })),
      ),
    }),
  ),
  tools: v.nullish(v.array(v.object({ function: v.looseObject({ name: v.string() }) }))),
})

const MAX_BODY = 64 * 1024 * 1024

/**
 * Starts a server of chat completions at `/v1` that answers from a recording. A call that is not in the recording, or
 * that failed when it was recorded, gets a 400 with the reason: clients do not repeat those.
 */
export async function startReplayModel(llm: ReplayLlm, options: { port?: number } = {}): Promise<Running> {
  const server = createServer(async (request, response) => {
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    try {
      if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
        return reply(404, failure('only chat completions are played'))
      const body: unknown = JSON.parse((await readBody(request, MAX_BODY)).toString('utf8'))
      reply(200, completion(await llm.complete(requestOf(v.parse(chatRequest, body)))))
    } catch (error) {
      reply(
        error instanceof BodyTooLarge ? 413 : 400,
        failure(error instanceof Error ? error.message : 'unknown error'),
      )
    }
  })
  return listen(server, { port: options.port })
}

const failure = (message: string) => ({ error: { message, type: 'invalid_request_error' } })

function requestOf({ model, messages, tools }: v.InferOutput<typeof chatRequest>): InferenceRequest {
  return {
    role: model === REPLAY_MODELS.main ? 'main' : 'small',
    messages: messages.map(messageOf),
    ...(tools &&
      tools.length > 0 && {
        tools: tools.map((tool) => ({ name: tool.function.name, description: '', parameters: {} })),
      }),
  }
}

type WireMessage = v.InferOutput<typeof chatRequest>['messages'][number]

function messageOf({ role, content, tool_call_id, tool_calls }: WireMessage): Message {
  if (role === 'tool') return { role, tool_call_id, content: content ?? '' }
  if (role === 'user') return { role, content: content ?? '' }
  if (role !== 'assistant') return { role: 'system', content: content ?? '' }
  const calls = (tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called }))
  return { role, content, ...(calls.length > 0 && { tool_calls: calls }) }
}

const FINISH = { end_turn: 'stop', tool_use: 'tool_calls', max_tokens: 'length', content_filter: 'content_filter' }

function completion({ text: said, tool_calls, finish, finish_raw, usage }: Inference): object {
  const calls = tool_calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  const message = {
    role: 'assistant',
    content: said === '' ? null : said,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    id: 'replay',
    object: 'chat.completion',
    created: 0,
    model: 'replay',
    choices: [{ index: 0, message, finish_reason: finish === null ? finish_raw : FINISH[finish] }],
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.input_tokens + usage.output_tokens,
      prompt_tokens_details: { cached_tokens: usage.cached_tokens },
    },
  }
}
