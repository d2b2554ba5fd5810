import { PlatformError } from '../base/errors.ts'
import { OutboundError } from '../base/http.ts'
import { isJsonObject } from '../base/json.ts'
import { cutMiddle } from '../base/text.ts'
import type { ToolCall, ToolDefinition } from '../llm/inference.ts'
import { inSpan } from '../observe/in-span.ts'
import type { ChainTrace } from '../observe/run-trace.ts'
import { type AgentEvent, type Tool, ToolError } from './agent-request.ts'
import type { CallMemory } from './call-memory.ts'
import {
  CONTROL_CHARACTER,
  CUT_OFF,
  duplicateCall,
  missingParameters,
  notJson,
  toolNotFound,
  unexpectedFailure,
} from './notices.ts'

/** A call that was started before its reply was whole. */
export interface StartedCall {
  /** The value of the tool; its error is thrown. */
  result: Promise<unknown>
  /** How long the tool ran; 0 until its end. */
  durationMs: number
}

export interface StartedCalls {
  /** Returns the call with this name and these arguments once, if it was started. */
  take(name: string, args: Record<string, unknown>): StartedCall | undefined
  /** Stops and forgets all of them. */
  clear(): void
}

export interface CallContext<Name extends string> {
  chain: Name
  /** The tools of this turn by name, including the result tool. */
  offered: ReadonlyMap<string, Tool>
  /** Null for calls that may be repeated. */
  memory: CallMemory | null
  /** The calls of this reply that were started before it was whole. */
  started?: StartedCalls
  maxResultChars: number
  signal: AbortSignal
  observe?: (event: AgentEvent<Name>) => void
  trace?: ChainTrace
}

export type CallOutcome<Result> =
  | { success: true; content: string; value: Result }
  | {
      success: false
      content: string
      /** True for a call that was made before, so that what it wants is there. */
      isRepeated?: boolean
    }

/** Runs one tool call. Failures become its result message, for the model to react; only an abort is thrown. */
export async function executeCall<Result, Name extends string>(
  call: ToolCall,
  tool: Tool<Result> | undefined,
  context: CallContext<Name>,
): Promise<CallOutcome<Result>> {
  return await inSpan(context.trace?.tool(call), () => answerCall(call, tool, context))
}

async function answerCall<Result, Name extends string>(
  call: ToolCall,
  tool: Tool<Result> | undefined,
  context: CallContext<Name>,
): Promise<CallOutcome<Result>> {
  const { memory, signal, offered } = context
  if (!tool) return refuse(toolNotFound(call.name, [...offered.keys()]))
  const started = performance.now()
  let path: string | undefined
  let early: StartedCall | undefined
  const report = (success: boolean, error?: unknown) =>
    context.observe?.({
      type: 'tool',
      chain: context.chain,
      name: call.name,
      ...(path !== undefined && { path }),
      success,
      durationMs: early?.durationMs ?? performance.now() - started,
      error,
    })
  try {
    const args = parseArguments(tool.definition, call.arguments)
    path = pathIn(args)
    const earlier = memory?.earlier(call.name, args)
    if (earlier !== undefined) return { ...refuse(duplicateCall(call.name, earlier)), isRepeated: true }
    if (tool.mutates) context.started?.clear()
    early = context.started?.take(call.name, args)
    // The tool of this name was started with these arguments, so the value is of its type.
    const value = early ? ((await early.result) as Result) : await tool.run(args, signal)
    signal.throwIfAborted()
    if (tool.mutates) memory?.clear()
    memory?.remember(call.id, call.name, args)
    report(true)
    return { success: true, content: cutMiddle(describe(value), context.maxResultChars), value }
  } catch (error) {
    signal.throwIfAborted()
    report(false, error)
    return refuse(cutMiddle(describeFailure(call.name, error), context.maxResultChars))
  }
}

/** Names of parameters that hold a file or folder of the workspace. */
const PATHS = ['target_file', 'relative_workspace_path']

const pathIn = (args: Record<string, unknown>): string | undefined =>
  PATHS.map((name) => args[name]).find((value) => typeof value === 'string')

const refuse = (content: string) => ({ success: false, content }) as const

const describe = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text === '' ? '(empty result)' : text
}

/** Describes a failure for the model. Unknown errors may name paths of this machine and are not shown. */
function describeFailure(name: string, error: unknown): string {
  const speakable = error instanceof ToolError || error instanceof PlatformError || error instanceof OutboundError
  return speakable && error.message !== '' ? error.message : unexpectedFailure(name)
}

/** Parses arguments; blank text is an empty object. Errors: `ToolError` that says what to correct. */
export function parseArguments(definition: ToolDefinition, text: string): Record<string, unknown> {
  const args = parseObject(definition.name, text)
  const missing = requiredOf(definition).filter(
    (name) => (args[name] === undefined || args[name] === null) && name !== 'explanation',
  )
  if (missing.length === 0) return args
  const { properties } = definition.parameters
  const known = [...requiredOf(definition), ...(isJsonObject(properties) ? Object.keys(properties) : [])]
  const unknown = Object.keys(args).filter((name) => !known.includes(name))
  throw new ToolError(missingParameters(definition.name, missing, unknown.slice(0, MAX_UNKNOWN)))
}

/** Maximum unknown parameters that a refusal names. */
const MAX_UNKNOWN = 5

function parseObject(name: string, text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'syntax error'
    throw new ToolError(notJson(name, reason, adviseOn(text)))
  }
  if (!isJsonObject(value))
    throw new ToolError(
      notJson(name, Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`),
    )
  return value
}

/** Returns advice about two common faults of long JSON, found without error texts, which depend on the runtime. */
function adviseOn(text: string): string {
  let inString = false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (letter === '"') {
      if (inString && !/^\s*([,:}\]]|$)/.test(text.slice(at + 1, at + 100))) return ''
      inString = !inString
    } else if (inString) {
      if (letter === '\\') at++
      else if (letter < ' ') return CONTROL_CHARACTER
    } else if (letter === '{' || letter === '[') depth++
    else if (letter === '}' || letter === ']') depth--
  }
  return inString || depth > 0 ? CUT_OFF : ''
}

function requiredOf(definition: ToolDefinition): string[] {
  const { required } = definition.parameters
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
