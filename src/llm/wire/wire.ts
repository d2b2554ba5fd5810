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
  /** True if the answer is to come as a stream. */
  stream?: boolean
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
  /** True if streams have an address of their own, which a gateway or a permission may leave out. */
  hasStreamAddress?: boolean
  /** Creates the assembler of an answer that comes as a stream, also of one that a gateway sent unrequested. */
  assembler(sink: StreamSink): Assembler
  /** Returns the next request if the provider paused the turn for its own tools, such as a search; otherwise null. */
  resume?(sent: object, answer: unknown): object | null
}

/** Receives what a streamed answer holds while it arrives. */
export interface StreamSink {
  /** Receives each piece of what the model writes: texts, thoughts, and names and arguments of calls. */
  text(piece: string): void
  /** Receives each call that is complete while the answer may go on, in order. Not every form can tell. */
  call(call: { name: string; arguments: string }): void
}

/** Assembles an answer from the events of its stream, by what they hold. */
export interface Assembler {
  add(event: unknown): void
  /** Returns the answer so far in its form; null before the first event of the form. An error event is the answer. */
  answer(): unknown
  /** True if the provider said that the answer is whole, or sent an error. */
  isEnded(): boolean
}

export const NO_SINK: StreamSink = { text: () => {}, call: () => {} }

/** Assembles an answer from all events of its stream; null if none is of the form. */
export function assemble(wire: Wire, events: readonly unknown[]): unknown {
  const assembler = wire.assembler(NO_SINK)
  for (const event of events) assembler.add(event)
  return assembler.answer()
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
