import type { Turn } from '../base/vocabulary.ts'
import type { LlmClient, Message, ModelRole, ToolDefinition, Usage } from '../llm/inference.ts'
import type { RunTrace } from '../observe/trace-types.ts'
import type { CallMemory } from './call-memory.ts'
import type { ContextBudget } from './context-budget.ts'

/**
 * A tool as the loop sees it. `run` gets arguments that hold every key that `parameters` requires. It throws
 * `ToolError` for anything that the model can correct.
 */
export interface Tool<Result = unknown> {
  definition: ToolDefinition
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<Result> | Result
  /** The tool changes the workspace, so that answers of earlier calls may be out of date and calls may be repeated. */
  mutates?: boolean
  /** Returns the model in place of the value, when this tool ends a run that may be continued. */
  acknowledgement?: string
}

/** A failure whose text the model gets as the answer to its call. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolError'
  }
}

/**
 * The input of one run of the loop.
 * @template Name the names of the chains, where they are a closed list
 */
export interface AgentRequest<Result, Name extends string = string> {
  llm: LlmClient
  /** Name of the chain in traces and meters; the loop itself does the same for all of them. */
  chain: Name
  role: ModelRole
  system?: string
  query: string
  /** Turns before the query; they are copied and never modified. */
  conversation?: readonly Turn[]
  /** An earlier run that this one goes on from. Its messages stand in place of `system` and `conversation`. */
  continues?: Continuation
  tools?: readonly Tool[]
  /** The tool whose first successful call ends the loop; what it answers is the value of the chain. */
  resultTool: Tool<Result>
  maxTurns: number
  /** Characters after which the answer of a tool is cut, with a note. Default 200,000. */
  maxResultChars?: number
  /** Messages are cut to fit it; without it they are sent whole. */
  budget?: ContextBudget
  signal: AbortSignal
  /** Called after every model call and tool call, for telemetry and token counts. */
  observe?: (event: AgentEvent<Name>) => void
  /** Records the chain with its calls. */
  trace?: RunTrace
}

/** `error` is for the log: its text may name paths of this machine. */
export type AgentEvent<Name extends string = string> =
  | { type: 'inference'; chain: Name; model: string; usage: Usage; durationMs: number; finish: string }
  | {
      type: 'tool'
      chain: Name
      name: string
      /** The file or folder among the arguments of the call; absent when there is none. */
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

/** The end of a run, from which a later run can continue in the same conversation. */
export interface EndedRun {
  /** All messages of the chain, every call answered. */
  messages: Message[]
  /** Indexes of the queries in the messages, in order: one for the run itself, and those of the runs before it. */
  queries: readonly number[]
  /** The calls that need not be made again. To be cleared when the workspace was changed after the run. */
  memory: CallMemory
}

export interface Continuation {
  run: EndedRun
  /**
   * The assistant's last words in the earlier run, not blank. They stand between the answer of the result tool
   * and the query, because some providers refuse a user message after a tool result.
   */
  closing: string
}
