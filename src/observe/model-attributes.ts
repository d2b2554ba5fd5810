import type { Inference, Message, ToolCall, ToolDefinition } from '../llm/types.ts'
import type { Attributes } from './span-recorder.ts'

/**
 * The attributes for the request of a model call. Beyond the limit of attributes those that were set first are
 * dropped, so the oldest messages come first.
 */
export function requestAttributes(messages: readonly Message[], tools: readonly ToolDefinition[]): Attributes {
  const attributes: Attributes = {}
  for (const [index, message] of messages.entries())
    Object.assign(attributes, messageAttributes(`llm.input_messages.${index}.message`, message))
  for (const [index, tool] of tools.entries())
    attributes[`llm.tools.${index}.tool.json_schema`] = JSON.stringify(wireTool(tool))
  return attributes
}

/** The attributes for the answer of a model call: its text, its tool calls and its tokens. */
export function replyAttributes(reply: Inference): Attributes {
  const { text, tool_calls, usage } = reply
  const message: Message = { role: 'assistant', content: text, ...(tool_calls.length > 0 && { tool_calls }) }
  return {
    ...messageAttributes('llm.output_messages.0.message', message),
    'llm.token_count.prompt': usage.input_tokens,
    'llm.token_count.completion': usage.output_tokens,
    'llm.token_count.total': usage.input_tokens + usage.output_tokens,
    ...(usage.cached_tokens > 0 && { 'llm.token_count.prompt_details.cache_read': usage.cached_tokens }),
    'output.value':
      text === '' ? JSON.stringify(tool_calls.map(({ name, arguments: args }) => ({ name, arguments: args }))) : text,
  }
}

/** The attributes for a model `<provider>/<model-id>`; without a slash the provider is left out. */
export function modelAttributes(model: string): Attributes {
  const slash = model.indexOf('/')
  return { ...(slash > 0 && { 'llm.provider': model.slice(0, slash) }), 'llm.model_name': model }
}

function messageAttributes(prefix: string, message: Message): Attributes {
  const attributes: Attributes = { [`${prefix}.role`]: message.role }
  if (message.content !== null) attributes[`${prefix}.content`] = message.content
  if (message.role === 'tool') attributes[`${prefix}.tool_call_id`] = message.tool_call_id
  if (message.role === 'assistant')
    for (const [index, call] of (message.tool_calls ?? []).entries())
      Object.assign(attributes, callAttributes(`${prefix}.tool_calls.${index}.tool_call`, call))
  return attributes
}

const callAttributes = (prefix: string, { id, name, arguments: args }: ToolCall): Attributes => ({
  [`${prefix}.id`]: id,
  [`${prefix}.function.name`]: name,
  [`${prefix}.function.arguments`]: args,
})

const wireTool = ({ name, description, parameters }: ToolDefinition) => ({
  type: 'function',
  function: { name, description, parameters },
})
