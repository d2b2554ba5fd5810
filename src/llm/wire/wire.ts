import { isJsonObject, parseJson } from '../../base/json.ts'

/** The request forms of providers. Everything outside of this folder uses `chat` only. */
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
  /** The path that is appended to the base URL. */
  path: string
  body: object
  headers?: Record<string, string>
}

/** Translates requests and answers between chat completions and another form. Other values pass unchanged. */
export interface Wire {
  name: WireName
  /** Returns the request in this form; null when it is sent unchanged. */
  encode(request: ChatRequest): WireRequest | null
  /** Converts an answer in this form to a chat completion. */
  decode(answer: unknown): unknown
  /** Assembles an answer from a stream that a gateway sent unrequested; null when the form does not match. */
  assemble(events: readonly unknown[]): unknown
  /** Returns the next request if the provider paused the turn for its own tools, such as a search; otherwise null. */
  resume?(sent: object, answer: unknown): object | null
}

/** The schema of a tool without parameters, for forms that require one. */
export const EMPTY_PARAMETERS = { type: 'object', properties: {} }

/** Returns the maximum tokens of the answer. */
export const capOf = (request: ChatRequest): number | undefined => request.max_tokens ?? request.max_completion_tokens

/** Parses the arguments of a call to an object. Other texts are wrapped, so that the model still sees its output. */
export function argumentsObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return isJsonObject(value) ? value : { invalid_arguments: text }
}

/** Converts ids of another provider to characters that all providers accept; equal ids stay equal. */
export const plainId = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'call'
