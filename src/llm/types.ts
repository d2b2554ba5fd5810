/** The two roles of `llm.model` and `llm.small_model`. */
export type ModelRole = 'main' | 'small'

export type Message =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCall[]; carry?: Carry }
  | { role: 'tool'; tool_call_id: string; content: string }

/**
 * What a provider wants back with its own words, for example signed thoughts: to be handed on unread and
 * unchanged, or not at all.
 */
export interface Carry {
  /** The deployment that takes it. */
  for: string
  data: unknown
}

export interface ToolCall {
  id: string
  name: string
  /** The model's argument text, verbatim; it may be invalid JSON. */
  arguments: string
}

export interface ToolDefinition {
  name: string
  description: string
  /** JSON schema of an object. */
  parameters: Record<string, unknown>
}

export interface InferenceRequest {
  role: ModelRole
  messages: Message[]
  tools?: ToolDefinition[]
  /** Default `llm.temperature`. */
  temperature?: number
  /** Extended thinking: temperature 1.0, reasoning effort low; not together with tools. */
  thinking?: boolean
  signal?: AbortSignal
}

/** `null` stands for every finish reason the table does not know. */
export type FinishReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'content_filter' | null

export interface Usage {
  /** All of the input, cached or not. */
  input_tokens: number
  /** Read from the provider's cache. */
  cached_tokens: number
  output_tokens: number
  /** Written to the provider's cache, where that has a price of its own. */
  cache_write_tokens?: number
}

export interface Inference {
  /** `<provider>/<model-id>` that answered. */
  model: string
  text: string
  tool_calls: ToolCall[]
  finish: FinishReason
  /** As the provider said it, for error texts. */
  finish_raw: string
  usage: Usage
  carry?: Carry
}

/**
 * A client for language models.
 * Errors: `PlatformError` code `InferenceCallAPIError`, text `Inference call to <model> failed: <reason>`;
 * `OutboundError` kind `aborted` when the signal fired.
 */
export interface LlmClient {
  complete(request: InferenceRequest): Promise<Inference>
  /** Text found by the model's own search, or null where no configured model can search. */
  search(query: string, options?: SearchOptions): Promise<string | null>
}

export interface SearchOptions {
  role?: ModelRole
  signal?: AbortSignal
  /** Told what a search used. */
  observe?: (used: { model: string; usage: Usage }) => void
}
