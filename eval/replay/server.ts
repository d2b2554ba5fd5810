import { type ChatMessage, chatCompletion, chatError, readChatRequest } from '../../dev/chat-completions.ts'
import { BodyTooLarge, type Running, startServer } from '../../dev/server.ts'
import type { Inference, Message } from '../../src/llm/inference.ts'
import type { ReplayLlm } from './answers.ts'

/** Names of the two models for which the server answers, without their provider. */
export const REPLAY_MODELS = { main: 'replay-main', small: 'replay-small' } as const

const MAX_BODY = 64 * 1024 * 1024

/**
 * Starts a server of chat completions at `/v1` that answers from a recording. A call that is missing or failed in the
 * recording gets a 400 with the reason, because clients do not repeat those.
 */
export const startReplayModel = (llm: ReplayLlm): Promise<Running> =>
  startServer({
    maxBodyBytes: MAX_BODY,
    respond: async ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/v1/chat/completions')
        return { status: 404, body: chatError('only chat completions are played') }
      const { model, messages, tools } = readChatRequest(JSON.parse((await body()).toString('utf8')))
      const answer = await llm.complete({
        role: model === REPLAY_MODELS.small ? 'small' : 'main',
        messages: messages.map(messageOf),
        ...(tools.length > 0 && { tools: tools.map(({ name }) => ({ name, description: '', parameters: {} })) }),
      })
      return { status: 200, body: completionOf(answer) }
    },
    fail: (error) => ({
      status: error instanceof BodyTooLarge ? 413 : 400,
      body: chatError(error instanceof Error ? error.message : 'unknown error'),
    }),
  })

function messageOf({ role, text, answers, calls }: ChatMessage): Message {
  if (role === 'tool') return { role, tool_call_id: answers ?? '', content: text ?? '' }
  if (role === 'assistant') return { role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }
  return { role: role === 'user' ? role : 'system', content: text ?? '' }
}

const FINISH = { end_turn: 'stop', tool_use: 'tool_calls', max_tokens: 'length', content_filter: 'content_filter' }

const completionOf = ({ text, tool_calls, finish, finish_raw, usage }: Inference): object =>
  chatCompletion({
    id: 'replay',
    model: 'replay',
    text,
    calls: tool_calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    finish: finish === null ? finish_raw : FINISH[finish],
    usage: { input: usage.input_tokens, output: usage.output_tokens, cached: usage.cached_tokens },
  })
