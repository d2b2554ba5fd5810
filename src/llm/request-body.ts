import type OpenAI from 'openai'
import { isJsonObject, type Json, parseJson } from '../base/json.ts'
import type { Deployment } from './deployments.ts'
import { badInference } from './failure.ts'
import type { InferenceRequest, Message } from './inference.ts'
import { argumentsObject } from './wire/wire.ts'

type Body = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'> & { stream?: boolean }
type WireMessage = OpenAI.Chat.ChatCompletionMessageParam
type WireCall = OpenAI.Chat.ChatCompletionMessageFunctionToolCall

export interface CallSettings {
  max_output_tokens: number
  temperature: number
  /** Whether the answer is asked for as a stream, if the deployment has one. */
  stream: boolean
}

/**
 * Builds the chat-completions body of a request for one deployment. Parameters that the deployment does not support are
 * omitted. Throws `PlatformError` when the request combines thinking with tools.
 */
export function chatBody(deployment: Deployment, request: InferenceRequest, settings: CallSettings): Body {
  const { tools, thinking } = request
  const { unsupported, quirks } = deployment
  if (thinking && tools?.length) throw badInference('thinking and tools exclude each other')
  const body: Body = { model: deployment.modelId, messages: wireMessages(request.messages, deployment) }
  body[quirks.cap] = Math.min(settings.max_output_tokens, quirks.maxOutput ?? settings.max_output_tokens)
  if (!unsupported.has('temperature')) {
    const temperature = thinking ? 1 : (request.temperature ?? settings.temperature)
    body.temperature = Math.min(temperature, quirks.maxTemperature ?? temperature)
  }
  if (thinking && !unsupported.has('reasoning_effort')) body.reasoning_effort = 'low'
  if (tools?.length) {
    body.tools = tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }))
    if (!unsupported.has('tool_choice')) body.tool_choice = 'auto'
  }
  if (settings.stream && !unsupported.has('stream')) {
    body.stream = true
    if (!unsupported.has('stream_options')) body.stream_options = { include_usage: true }
  }
  return body
}

function wireMessages(messages: readonly Message[], deployment: Deployment): WireMessage[] {
  const { quirks, unsupported } = deployment
  const idOf = callIds(quirks.call_id)
  const nothing = unsupported.has('null_content') ? '' : null
  const single = unsupported.has('parallel_calls') ? withSingleCalls(messages) : messages
  const taken = unsupported.has('system_role') ? withoutSystem(single) : single
  return taken.map((message): WireMessage => {
    if (message.role === 'tool') return { ...message, tool_call_id: idOf(message.tool_call_id) }
    if (message.role !== 'assistant') return message
    const { fields, calls } = carriedFields(message, deployment)
    if (!message.tool_calls?.length)
      return Object.assign({ role: 'assistant' as const, content: message.content ?? '' }, fields)
    const toolCalls = message.tool_calls.map(({ id, name, arguments: text }): WireCall => {
      const call: WireCall = { id: idOf(id), type: 'function', function: { name, arguments: sentArguments(text) } }
      return Object.assign(call, calls[id])
    })
    return Object.assign(
      { role: 'assistant' as const, content: message.content ?? nothing, tool_calls: toolCalls },
      fields,
    )
  })
}

/** Puts the system prompt before the first message of the user, for models whose template has no role for it. */
function withoutSystem(messages: readonly Message[]): readonly Message[] {
  const [first, second, ...rest] = messages
  if (first?.role !== 'system' || second?.role !== 'user') return messages
  return [{ ...second, content: `${first.content}\n\n${second.content}` }, ...rest]
}

/** Gives each call a message of its own, with its result after it. */
function withSingleCalls(messages: readonly Message[]): Message[] {
  const results = messages.filter((message) => message.role === 'tool')
  const moved = new Set<Message>()
  return messages.flatMap((message): Message[] => {
    if (moved.has(message)) return []
    if (message.role !== 'assistant' || (message.tool_calls?.length ?? 0) < 2) return [message]
    const { tool_calls: calls = [], ...said } = message
    return calls.flatMap((call, index) => {
      const own = results.filter(({ tool_call_id }) => tool_call_id === call.id)
      for (const result of own) moved.add(result)
      return [{ ...(index === 0 ? said : { role: 'assistant' as const, content: null }), tool_calls: [call] }, ...own]
    })
  })
}

/** Servers refuse a conversation whose calls are no JSON objects, also when a model wrote them so. */
const sentArguments = (text: string): string =>
  isJsonObject(parseJson(text)) ? text : JSON.stringify(argumentsObject(text))

/** Returns the fields that this deployment sent with the message and its calls, and that it wants back unchanged. */
function carriedFields(message: Extract<Message, { role: 'assistant' }>, deployment: Deployment) {
  const none = { fields: {}, calls: {} as Record<string, Json> }
  const { carry } = message
  if (!carry || carry.for !== deployment.carries) return none
  if (deployment.quirks.echo.length === 0) return { ...none, fields: { carry: carry.data } }
  if (!isJsonObject(carry.data)) return none
  const { calls, ...fields } = carry.data
  return { fields, calls: isJsonObject(calls) ? calls : {} }
}

/**
 * Returns a function that replaces call ids that the provider would refuse, for example those of another provider.
 * Equal ids get equal replacements, so that results still refer to their calls.
 */
function callIds(accepted: RegExp | undefined): (id: string) => string {
  const replacements = new Map<string, string>()
  return (id) => {
    if (!accepted || accepted.test(id)) return id
    const replacement = replacements.get(id) ?? `c${String(replacements.size).padStart(8, '0')}`
    replacements.set(id, replacement)
    return replacement
  }
}
