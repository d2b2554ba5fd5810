import type { Turn } from '../base/vocabulary.ts'
import type { LlmClient, Message, ModelRole, ToolDefinition, Usage } from '../llm/types.ts'
import type { RunTrace } from '../observe/trace-types.ts'
import type { ContextBudget } from './context-budget.ts'

/** Names of the chains, as they appear in telemetry. */
export type ChainName =
  | 'REQUESTS_FILTER'
  | 'INTENT_CHECK'
  | 'PROMPT_COMPOSITOR'
  | 'IAC_GENERATOR'
  | 'TARGET_GENERATOR'
  | 'TASK_SPLITTER'
  | 'FILTER_RECONCILIATION'
  | 'FILTER_DRIFT_EXCEPTIONS'
  | 'IMPORT_FILTER'
  | 'IMPORT_ADDRESSES'
  | 'REPORT_GENERATOR'
  | 'COMPLIANCE_CHECKER'
  | 'PR_GENERATOR'
  | 'STATUS_UPDATE'

/**
 * A tool as the loop sees it. `run` gets parsed arguments that match `parameters` in their required
 * keys; it throws `ToolError` for anything the model can act on. A sentinel's result is the value of
 * the chain.
 */
export interface Tool<Result = unknown> {
  definition: ToolDefinition
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<Result> | Result
  /** Changes the workspace: clears the memory of earlier calls. */
  mutates?: boolean
  /** Offered once per state of the workspace, withdrawn after success until a mutation. */
  once_per_state?: boolean
}

/** A failure that is answered to the model as an error result. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

export interface AgentRequest<Result> {
  llm: LlmClient
  chain: ChainName
  role: ModelRole
  system?: string
  query: string
  /** Copied, never modified. */
  conversation?: readonly Turn[]
  tools?: readonly Tool[]
  sentinel: Tool<Result>
  max_turns: number
  /** Characters after which a tool result is cut with a note. Default 200,000. */
  max_result_chars?: number
  /** What the model takes; messages are cut to fit. Without it they are sent as they are. */
  budget?: ContextBudget
  signal: AbortSignal
  /** Told of every model call and tool call, for telemetry and token counts; `error` is for the log. */
  observe?: (event: AgentEvent) => void
  /** Records the chain with its calls. */
  trace?: RunTrace
}

export type AgentEvent =
  | { type: 'inference'; chain: ChainName; model: string; usage: Usage; duration_ms: number; finish: string }
  | { type: 'tool'; chain: ChainName; name: string; success: boolean; duration_ms: number; error?: unknown }

export interface AgentResult<Result> {
  value: Result
  /** Local messages of the chain, for tests and telemetry. */
  messages: Message[]
  turns: number
  usage: Usage
}
