import { PlatformError } from '../base/errors.ts'
import { OutboundError } from '../base/http.ts'
import { cutMiddle } from '../base/text.ts'
import type { ToolCall } from '../llm/types.ts'
import type { ChainTrace } from '../observe/trace-types.ts'
import type { CallMemory } from './call-memory.ts'
import { duplicateCall, toolNotFound, unexpectedFailure, withdrawnTool } from './notices.ts'
import { parseArguments } from './parse-arguments.ts'
import { type AgentEvent, type ChainName, type Tool, ToolError } from './types.ts'

export interface CallContext {
  chain: ChainName
  /** The tools of this turn by name, the sentinel among them. */
  offered: ReadonlyMap<string, Tool>
  /** Null for calls that may be repeated. */
  memory: CallMemory | null
  max_result_chars: number
  signal: AbortSignal
  observe?: (event: AgentEvent) => void
  trace?: ChainTrace
}

export type CallOutcome<Result> =
  | { success: true; content: string; value: Result }
  | { success: false; content: string }

/**
 * Answers one tool call. Whatever the model can act on becomes the content of an error result; only
 * the abort of the run is thrown.
 * @param tool undefined when no tool of that name is offered in this turn
 */
export async function executeCall<Result>(
  call: ToolCall,
  tool: Tool<Result> | undefined,
  context: CallContext,
): Promise<CallOutcome<Result>> {
  const span = context.trace?.tool(call)
  try {
    const outcome = await answerCall(call, tool, context)
    span?.end(outcome)
    return outcome
  } catch (error) {
    span?.fail(error)
    throw error
  }
}

async function answerCall<Result>(
  call: ToolCall,
  tool: Tool<Result> | undefined,
  context: CallContext,
): Promise<CallOutcome<Result>> {
  const { memory, signal } = context
  if (!tool) return refusal(memory?.isWithdrawn(call.name) ? withdrawnTool(call.name) : toolNotFound(call.name))
  const started = performance.now()
  const told = (success: boolean, error?: unknown) =>
    context.observe?.({
      type: 'tool',
      chain: context.chain,
      name: call.name,
      success,
      duration_ms: performance.now() - started,
      error,
    })
  try {
    const args = parseArguments(tool.definition, call.arguments)
    const earlier = memory?.earlier(call.name, args)
    if (earlier !== undefined) return refusal(duplicateCall(call.name, earlier))
    const value = await tool.run(args, signal)
    signal.throwIfAborted()
    if (memory) learn(memory, call, tool, args)
    told(true)
    return { success: true, content: cutMiddle(asText(value), context.max_result_chars), value }
  } catch (error) {
    signal.throwIfAborted()
    told(false, error)
    return refusal(cutMiddle(failureText(call.name, error), context.max_result_chars))
  }
}

function learn(memory: CallMemory, call: ToolCall, tool: Tool, args: Record<string, unknown>): void {
  if (tool.mutates) memory.clear()
  memory.remember(call.id, call.name, args)
  if (tool.once_per_state) memory.withdraw(call.name)
}

const refusal = (content: string) => ({ success: false, content }) as const

const asText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text === '' ? '(empty result)' : text
}

/** The text of an unknown error may name paths of this machine: it goes to the observer, not to the model. */
function failureText(name: string, error: unknown): string {
  const speakable = error instanceof ToolError || error instanceof PlatformError || error instanceof OutboundError
  return speakable && error.message !== '' ? error.message : unexpectedFailure(name)
}
