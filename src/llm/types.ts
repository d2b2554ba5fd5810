/** The two roles of `llm.model` and `llm.small_model`. */
export type ModelRole = 'main' | 'small'

export type Message =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

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
  input_tokens: number
  cached_tokens: number
  output_tokens: number
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
}

/**
 * A client for language models.
 * Errors: `PlatformError` code `InferenceCallAPIError`, text `Inference call to <model> failed: <reason>`;
 * `OutboundError` kind `aborted` when the signal fired.
 */
export interface LlmClient {
  complete(request: InferenceRequest): Promise<Inference>
  /** Text found by the model's own search, or null where no configured model can search. */
  search(query: string, options?: { role?: ModelRole; signal?: AbortSignal }): Promise<string | null>
}
