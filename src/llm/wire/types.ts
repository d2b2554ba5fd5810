/** Forms in which providers take a request. `chat` is the one that everything else here sees. */
export const WIRES = ['chat', 'anthropic', 'gemini', 'converse'] as const
export type WireName = (typeof WIRES)[number]

/** The chat-completions request as `request-body.ts` writes it. */
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
  /** Behind the base URL. */
  path: string
  body: object
  headers?: Record<string, string>
}

/** Translates one request and its answer. Whatever is no answer of the form passes through unchanged. */
export interface Wire {
  name: WireName
  /** Null: the request goes out as it is. */
  encode(request: ChatRequest): WireRequest | null
  /** A chat completion, made of an answer of the provider. */
  decode(answer: unknown): unknown
  /** One answer out of the events of a stream that nobody asked for; null when they are none of the form. */
  assemble(events: readonly unknown[]): unknown
  /** A turn that the provider paused for tools of its own: what to send to go on, else null. */
  resume?(sent: object, answer: unknown): object | null
}

export const capOf = (request: ChatRequest): number | undefined => request.max_tokens ?? request.max_completion_tokens

/** Argument text as the object that other forms ask for; text that is none stays readable for the model. */
export function argumentsObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    // Answered below.
  }
  return { invalid_arguments: text }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Ids of another provider in the alphabet that all of them accept; equal ids stay equal. */
export const plainId = (id: string, max = 64): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, max) || 'call'
