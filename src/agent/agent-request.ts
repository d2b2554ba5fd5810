import type { Turn } from '../base/vocabulary.ts'
import type { LlmClient, Message, ModelRole, ToolDefinition, Usage } from '../llm/inference.ts'
import type { RunTrace } from '../observe/run-trace.ts'
import type { CallMemory } from './call-memory.ts'
import type { ContextBudget } from './context-budget.ts'

/** A tool of the loop. `run` gets all required parameters and throws `ToolError` for correctable faults. */
export interface Tool<Result = unknown> {
  definition: ToolDefinition
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<Result> | Result
  /** True if the tool changes the workspace, so that earlier results may be out of date and calls may be repeated. */
  mutates?: boolean
  /** True if the tool only reads, so that a call may start before its reply is whole, and may be stopped. */
  reads?: boolean
  /** The reply to the model in place of the value, when this tool ends a run that may be continued. */
  acknowledgement?: string
}

/** A failure whose text is returned to the model as the result of its call. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

/** The input of one run of the loop. `Name` is a union of the chain names, where they are a closed list. */
export interface AgentRequest<Result, Name extends string = string> {
  llm: LlmClient
  /** Name of the chain in traces and meters. */
  chain: Name
  role: ModelRole
  system?: string
  query: string
  /** Turns before the query; they are copied and never modified. */
  conversation?: readonly Turn[]
  /** An earlier run to continue, whose messages replace `system` and `conversation`. */
  continues?: Continuation
  tools?: readonly Tool[]
  /** The tool whose first successful call ends the loop; its result is the value of the chain. */
  resultTool: Tool<Result>
  maxTurns: number
  /** Maximum characters of a tool result, which is cut with a note. The default is 200,000. */
  maxResultChars?: number
  /** Limit to which messages are cut; without it they are sent whole. */
  budget?: ContextBudget
  signal: AbortSignal
  /** Called after every model call and tool call, for telemetry and token counts. */
  observe?: (event: AgentEvent<Name>) => void
  trace?: RunTrace
}

/** An event of the loop. `error` is for the log: its text may name paths of this machine. */
export type AgentEvent<Name extends string = string> =
  | { type: 'inference'; chain: Name; model: string; usage: Usage; durationMs: number; finish: string }
  | {
      type: 'tool'
      chain: Name
      name: string
      /** The file or folder among the arguments of the call, if any. */
      path?: string
      success: boolean
      durationMs: number
      error?: unknown
    }

export interface AgentResult<Result> extends EndedRun {
  value: Result
  turns: number
  usage: Usage
}

/** The end of a run that a later run can continue in the same conversation. */
export interface EndedRun {
  /** All messages of the chain; every call has its result. */
  messages: Message[]
  /** Indexes of the queries in the messages, in order, including those of earlier runs. */
  queries: readonly number[]
  /** The calls that need not be repeated. Must be cleared when the workspace was changed after the run. */
  memory: CallMemory
}

export interface Continuation {
  run: EndedRun
  /** The assistant's last words, not blank: some providers refuse a user message after a tool result. */
  closing: string
}
