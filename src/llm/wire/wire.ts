import { isJsonObject } from '../../base/json.ts'

/** The forms in which providers take requests. Everything outside of this folder sees `chat` only. */
export const WIRES = ['chat', 'anthropic', 'gemini', 'converse'] as const
export type WireName = (typeof WIRES)[number]

/** A chat-completions request as `request-body.ts` writes it. */
export interface ChatRequest {
  model: string
  messages: ChatMessage[]
  tools?: { function: { name: string; description?: string; parameters?: Record<string, unknown> } }[]
  max_tokens?: number
  max_completion_tokens?: number
  temperature?: number
  reasoning_effort?: string
  web_search_options?: object
}

export interface ChatCall {
  id: string
  function: { name: string; arguments: string }
}
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatCall[]; carry?: unknown }
  | { role: 'tool'; tool_call_id: string; content: string }
export type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>

export interface WireRequest {
  /** Is appended to the base URL. */
  path: string
  body: object
  headers?: Record<string, string>
}

/** Translates requests and answers between chat completions and another form. What is no answer passes unchanged. */
export interface Wire {
  name: WireName
  /** The request in this form; null when it is sent as it is. */
  encode(request: ChatRequest): WireRequest | null
  /** The chat completion that an answer in this form stands for. */
  decode(answer: unknown): unknown
  /** One answer made of the events of a stream, which some gateways send unasked; null when the form does not fit. */
  assemble(events: readonly unknown[]): unknown
  /** The next request when the provider paused the turn for its own tools, such as a search; null when it did not. */
  resume?(sent: object, answer: unknown): object | null
}

/** The schema of a tool without parameters, for forms that require one. */
export const EMPTY_PARAMETERS = { type: 'object', properties: {} }

/** The most tokens that the answer may have. */
export const capOf = (request: ChatRequest): number | undefined => request.max_tokens ?? request.max_completion_tokens

/**
 * The arguments of a call as an object, which the other forms require. A text that is not a JSON object is wrapped, so
 * that the model still sees what it wrote.
 */
export function argumentsObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // The text is wrapped below.
  }
  return { invalid_arguments: text }
}

/** Ids of another provider in the alphabet that all of them accept; equal ids stay equal. */
export const plainId = (id: string, max = 64): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, max) || 'call'
