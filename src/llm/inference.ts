import { PlatformError } from '../base/errors.ts'
import { OutboundError } from '../base/http.ts'

export type ModelRole = 'main' | 'small'

export type Message =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCall[]; carry?: Carry }
  | { role: 'tool'; tool_call_id: string; content: string }

/** Data that a provider wants back with its own message, for example signed thoughts. Nothing else reads it. */
export interface Carry {
  /** The deployment that sent it and the only one that gets it back. */
  for: string
  data: unknown
}

export interface ToolCall {
  id: string
  name: string
  /** The arguments as the model wrote them; they may be invalid JSON. */
  arguments: string
}

export interface ToolDefinition {
  name: string
  description: string
  /** The JSON schema of the arguments, which are an object. */
  parameters: Record<string, unknown>
}

export interface InferenceRequest {
  role: ModelRole
  messages: Message[]
  tools?: ToolDefinition[]
  /** Default: `llm.temperature`. */
  temperature?: number
  /** Extended thinking, with temperature 1.0 and low reasoning effort. It cannot be combined with tools. */
  thinking?: boolean
  signal?: AbortSignal
  /** Follows the answer while it arrives, if it comes as a stream. */
  progress?: ReplyProgress
}

/** What is known of an answer before it is whole. */
export interface ReplyProgress {
  /** Receives a call that is complete, in the order of the calls. It need not be in the answer in the end. */
  call(call: Pick<ToolCall, 'name' | 'arguments'>): void
  /** Called when the answer is asked for again, so that what was received of it is void. */
  restart(): void
}

/** The reason for the end of an answer; null for every reason that is not listed here. */
export type FinishReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'content_filter' | 'repetition' | null

export interface Usage {
  /** All input tokens, cached or not. */
  input_tokens: number
  /** The input tokens among them that were read from the provider's cache. */
  cached_tokens: number
  output_tokens: number
  /** The input tokens that were written to the provider's cache, if that has its own price. */
  cache_write_tokens?: number
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  ...((a.cache_write_tokens ?? b.cache_write_tokens) !== undefined && {
    cache_write_tokens: (a.cache_write_tokens ?? 0) + (b.cache_write_tokens ?? 0),
  }),
})

/** The failure of a call. */
export class InferenceError extends PlatformError {
  /** The tokens of answers that could not be used, which are paid all the same; null without any. */
  readonly used: { model: string; usage: Usage } | null
  constructor(message: string, status: number, used: InferenceError['used'], cause?: unknown) {
    super('InferenceCallAPIError', status, message, { cause })
    this.used = used
  }
}

/** Thrown when the caller stopped a call whose answer had begun to come as a stream. */
export class StoppedInference extends OutboundError {
  /** The tokens until then, estimated where the provider had not yet told them. */
  readonly used: { model: string; usage: Usage }
  constructor(used: StoppedInference['used'], options: ErrorOptions) {
    super('aborted', 'the call was cancelled', options)
    this.used = used
  }
}

export interface Inference {
  /** The model that answered, as `<provider>/<model-id>`. */
  model: string
  text: string
  tool_calls: ToolCall[]
  finish: FinishReason
  /** The provider's own finish reason, for error texts. */
  finish_raw: string
  usage: Usage
  carry?: Carry
}

/**
 * A client for language models. Throws `InferenceError`, of code `InferenceCallAPIError`, with the text `Inference call
 * to <model> failed: <reason>`; `OutboundError` of kind `aborted` when the signal fired.
 */
export interface LlmClient {
  complete(request: InferenceRequest): Promise<Inference>
  /** Lets a model search the web and returns its text; null when the model cannot search. */
  search(query: string, options?: SearchOptions): Promise<string | null>
  /** Reports whether the configured models can search the web for this role. Absent if only a search can tell. */
  canSearch?(role: ModelRole): boolean
  /** Loads what the first call needs, so that it does not wait for it. */
  warm?(): Promise<void>
}

export interface SearchOptions {
  role?: ModelRole
  signal?: AbortSignal
  /** Receives the model and the tokens of the search. */
  observe?: (used: { model: string; usage: Usage }) => void
}
