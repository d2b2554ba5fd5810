import { PlatformError } from '../base/errors.ts'
import { OutboundError } from '../base/http.ts'
import { isJsonObject } from '../base/json.ts'
import { cutMiddle } from '../base/text.ts'
import type { ToolCall, ToolDefinition } from '../llm/types.ts'
import type { ChainTrace } from '../observe/trace-types.ts'
import type { CallMemory } from './call-memory.ts'
import { duplicateCall, missingParameters, notJson, toolNotFound, unexpectedFailure, withdrawnTool } from './notices.ts'
import { type AgentEvent, type Tool, ToolError } from './types.ts'

export interface CallContext<Name extends string> {
  chain: Name
  /** The tools of this turn by name, the result tool among them. */
  offered: ReadonlyMap<string, Tool>
  /** Null for calls that may be repeated. */
  memory: CallMemory | null
  maxResultChars: number
  signal: AbortSignal
  observe?: (event: AgentEvent<Name>) => void
  trace?: ChainTrace
}

export type CallOutcome<Result> =
  | { success: true; content: string; value: Result }
  | { success: false; content: string }

/**
 * Runs one tool call and makes the answer to it. A failure is not thrown but becomes the content of the answer, so that
 * the model can react to it; only the abort of the run is thrown.
 * @param tool undefined when no tool of that name is offered in this turn
 */
export async function executeCall<Result, Name extends string>(
  call: ToolCall,
  tool: Tool<Result> | undefined,
  context: CallContext<Name>,
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

async function answerCall<Result, Name extends string>(
  call: ToolCall,
  tool: Tool<Result> | undefined,
  context: CallContext<Name>,
): Promise<CallOutcome<Result>> {
  const { memory, signal } = context
  if (!tool) return refuse(memory?.isWithdrawn(call.name) ? withdrawnTool(call.name) : toolNotFound(call.name))
  const started = performance.now()
  const report = (success: boolean, error?: unknown) =>
    context.observe?.({
      type: 'tool',
      chain: context.chain,
      name: call.name,
      success,
      durationMs: performance.now() - started,
      error,
    })
  try {
    const args = parseArguments(tool.definition, call.arguments)
    const earlier = memory?.earlier(call.name, args)
    if (earlier !== undefined) return refuse(duplicateCall(call.name, earlier))
    const value = await tool.run(args, signal)
    signal.throwIfAborted()
    if (memory) rememberCall(memory, call, tool, args)
    report(true)
    return { success: true, content: cutMiddle(describe(value), context.maxResultChars), value }
  } catch (error) {
    signal.throwIfAborted()
    report(false, error)
    return refuse(cutMiddle(describeFailure(call.name, error), context.maxResultChars))
  }
}

function rememberCall(memory: CallMemory, call: ToolCall, tool: Tool, args: Record<string, unknown>): void {
  if (tool.mutates) memory.clear()
  memory.remember(call.id, call.name, args)
  if (tool.oncePerState) memory.withdraw(call.name)
}

const refuse = (content: string) => ({ success: false, content }) as const

const describe = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text === '' ? '(empty result)' : text
}

/**
 * What the model is told about a failure. The text of an unknown error is not among it, because it may name paths of
 * this machine: it is passed to the observer only.
 */
function describeFailure(name: string, error: unknown): string {
  const speakable = error instanceof ToolError || error instanceof PlatformError || error instanceof OutboundError
  return speakable && error.message !== '' ? error.message : unexpectedFailure(name)
}

/**
 * Reads the argument text of a call: an object that holds every required parameter. A blank text is an empty object,
 * because that is how some models call a tool without parameters.
 * Errors: `ToolError` that says what the model has to correct.
 */
function parseArguments(definition: ToolDefinition, text: string): Record<string, unknown> {
  const args = parseObject(definition.name, text)
  const missing = requiredOf(definition).filter(
    (name) => (args[name] === undefined || args[name] === null) && name !== 'explanation',
  )
  if (missing.length > 0) throw new ToolError(missingParameters(definition.name, missing))
  return args
}

function parseObject(name: string, text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ToolError(notJson(name, error instanceof Error ? error.message : 'syntax error'))
  }
  if (!isJsonObject(value))
    throw new ToolError(
      notJson(name, Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`),
    )
  return value
}

function requiredOf(definition: ToolDefinition): string[] {
  const { required } = definition.parameters
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
