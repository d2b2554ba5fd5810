import type OpenAI from 'openai'
import type { Deployment } from './deployments.ts'
import { badInference } from './errors.ts'
import type { InferenceRequest, Message, ToolDefinition } from './types.ts'

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming

export interface CallSettings {
  max_output_tokens: number
  temperature: number
}

/** The chat-completions body for one deployment; what it does not support is left out. */
export function chatBody(deployment: Deployment, request: InferenceRequest, settings: CallSettings): Body {
  const { tools, thinking } = request
  if (thinking && tools?.length) throw badInference('thinking and tools exclude each other')
  const body: Body = { model: deployment.model_id, messages: request.messages.map(wireMessage) }
  body[deployment.quirks.cap] = settings.max_output_tokens
  if (!deployment.unsupported.has('temperature')) body.temperature = thinking ? 1 : (request.temperature ?? settings.temperature)
  if (thinking && !deployment.unsupported.has('reasoning_effort')) body.reasoning_effort = 'low'
  if (tools?.length) {
    body.tools = tools.map(wireTool)
    body.tool_choice = 'auto'
  }
  return body
}

/** Temperature of calls that a tool makes for itself. */
const TOOL_TEMPERATURE = 0.5

export function searchBody(deployment: Deployment, query: string, settings: CallSettings): Body {
  const request: InferenceRequest = { role: 'small', messages: [{ role: 'user', content: query }], temperature: TOOL_TEMPERATURE }
  return { ...chatBody(deployment, request, settings), web_search_options: { search_context_size: 'medium' } }
}

export function responsesSearchBody(
  deployment: Deployment,
  query: string,
  settings: CallSettings,
): OpenAI.Responses.ResponseCreateParamsNonStreaming {
  return {
    model: deployment.model_id,
    input: query,
    tools: [{ type: 'web_search', search_context_size: 'medium' }],
    max_output_tokens: settings.max_output_tokens,
    ...(deployment.unsupported.has('temperature') ? {} : { temperature: TOOL_TEMPERATURE }),
  }
}

function wireMessage(message: Message): OpenAI.Chat.ChatCompletionMessageParam {
  if (message.role !== 'assistant') return message
  if (!message.tool_calls?.length) return { role: 'assistant', content: message.content ?? '' }
  return {
    role: 'assistant',
    content: message.content,
    tool_calls: message.tool_calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
  }
}

const wireTool = ({ name, description, parameters }: ToolDefinition): OpenAI.Chat.ChatCompletionFunctionTool => ({
  type: 'function',
  function: { name, description, parameters },
})
