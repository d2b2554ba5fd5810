import { PlatformError } from '../base/errors.ts'
import {
  addUsage,
  type Inference,
  type Message,
  type ReplyProgress,
  type ToolCall,
  type Usage,
} from '../llm/inference.ts'
import { inSpan } from '../observe/in-span.ts'
import type { ChainTrace } from '../observe/run-trace.ts'
import { type AgentRequest, type AgentResult, type Tool, ToolError } from './agent-request.ts'
import { createCallMemory } from './call-memory.ts'
import { createEarlyCalls } from './early-calls.ts'
import { type CallContext, type CallOutcome, executeCall } from './execute-call.ts'
import { createFitting } from './fit-messages.ts'
import { cutReplyNotice, emptyReplyNotice, emptyResult, lastTurnNotice, reminder, resultRefused } from './notices.ts'

const MAX_RESULT_CHARS = 200_000
/** Maximum times in a row that a reply which was cut off is asked for again. */
const MAX_ASKED_AGAIN = 2

/**
 * Lets a model work with tools until it calls the result tool, whose result is returned. One turn is one model call;
 * every tool call of a reply is answered, in order. All turns but the last offer the same tools, for the provider's
 * cache. A reply that was cut off is not used but asked for again, smaller, which is no turn of its own.
 * Errors: `PlatformError` `ToolExecutionsExceeded` after `maxTurns` turns, `UnhandledInferenceFinishReason` for a reply
 * that was filtered or cut off for the third time, those of the model client; the signal's reason.
 */
export async function runAgent<Result, Name extends string>(
  request: AgentRequest<Result, Name>,
): Promise<AgentResult<Result>> {
  return await traceChain(
    request,
    (chain) => runLoop(request, chain),
    ({ value }) => value,
  )
}

async function runLoop<Result, Name extends string>(
  request: AgentRequest<Result, Name>,
  chain: ChainTrace | undefined,
): Promise<AgentResult<Result>> {
  const { resultTool, maxTurns, signal } = request
  const name = resultTool.definition.name
  const messages = beginMessages(request)
  const memory = request.continues?.run.memory ?? createCallMemory()
  const queries = [...(request.continues?.run.queries ?? []), messages.length - 1]
  const fitting = createFitting(request.budget, queries, memory)
  let usage: Usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 }
  for (let turn = 1; turn <= maxTurns; turn++) {
    const last = turn === maxTurns
    if (last && request.tools?.length) addNotice(messages, lastTurnNotice(name))
    fitting.shorten(messages, [...(request.tools ?? []), resultTool])
    const offered = last ? [resultTool] : [...(request.tools ?? []), resultTool]
    const byName = new Map(offered.map((tool) => [tool.definition.name, tool]))
    const early = createEarlyCalls({ offered: byName, memory, signal })
    const ask = () => {
      early.progress.restart()
      return fitting.call(messages, offered, () => callModel(request, messages, offered, chain, early.progress))
    }
    try {
      const reply = await askUntilUsable(messages, ask)
      usage = addUsage(usage, reply.usage)
      if (reply.finish !== 'end_turn' && reply.finish !== 'tool_use')
        throw failure('UnhandledInferenceFinishReason', `Error: unexpected finish reason - ${reply.finish_raw}`)
      if (reply.tool_calls.length === 0) {
        answerWithoutCalls(messages, reply, name)
        continue
      }
      messages.push({ role: 'assistant', content: reply.text || null, tool_calls: reply.tool_calls, ...carryOf(reply) })
      const result = await answerCalls<Result, Name>(messages, reply, resultTool, last, {
        chain: request.chain,
        offered: byName,
        memory,
        started: early,
        maxResultChars: request.maxResultChars ?? MAX_RESULT_CHARS,
        signal,
        observe: request.observe,
        trace: chain,
      })
      if (result) return { value: result.value, messages, queries, memory, turns: turn, usage }
    } finally {
      early.clear()
    }
  }
  const text = `The total number of tool executions in this chain has reached the limit. Limit=${maxTurns}`
  throw failure('ToolExecutionsExceeded', text)
}

/**
 * Asks for a reply, and again with a notice while it is cut off by its length or because it repeats itself, at most
 * `MAX_ASKED_AGAIN` times. What was cut off is not kept: its last call is broken, and a provider refuses thoughts whose
 * signature is missing. The notice stays in the messages, so that later replies are small as well.
 * @returns the last reply, with the usage of all
 */
async function askUntilUsable(messages: Message[], ask: () => Promise<Inference>): Promise<Inference> {
  let reply = await ask()
  for (let asked = 1; asked <= MAX_ASKED_AGAIN; asked++) {
    const { finish, usage } = reply
    if (finish !== 'max_tokens' && finish !== 'repetition') break
    addNotice(messages, cutReplyNotice(finish, usage.output_tokens, asked === MAX_ASKED_AGAIN))
    const next = await ask()
    reply = { ...next, usage: addUsage(usage, next.usage) }
  }
  return reply
}

/** Adds reply and reminder after a reply without tool calls; an empty reply is repeated with a notice. */
function answerWithoutCalls(messages: Message[], reply: Inference, resultTool: string): void {
  if (reply.text.trim() === '') addNotice(messages, emptyReplyNotice(resultTool))
  else
    messages.push(
      { role: 'assistant', content: reply.text, ...carryOf(reply) },
      { role: 'user', content: reminder(resultTool) },
    )
}

/** Returns data that the provider expects back with its reply. */
const carryOf = ({ carry }: Inference) => (carry ? { carry } : {})

/** Joins the notice to the last message, because some providers refuse a user message after a tool result. */
function addNotice(messages: Message[], notice: string): void {
  const last = messages.at(-1)
  if (last?.content == null || last.content.endsWith(notice)) return
  messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${notice}` }
}

/**
 * Runs all calls of a reply, those of the result tool last. The first non-empty result is the value, unless the same
 * reply has an edit that was refused or a tool that does not exist, and another turn can correct that: what the model
 * reports then was not done.
 */
async function answerCalls<Result, Name extends string>(
  messages: Message[],
  reply: Inference,
  resultTool: Tool<Result>,
  last: boolean,
  context: CallContext<Name>,
): Promise<{ value: Result } | null> {
  const name = resultTool.definition.name
  const contents = new Map<ToolCall, string>()
  const refused: string[] = []
  const unknown: string[] = []
  for (const call of reply.tool_calls.filter((one) => one.name !== name)) {
    const tool = context.offered.get(call.name)
    const outcome = await executeCall(call, tool, context)
    contents.set(call, outcome.content)
    if (tool?.mutates && !outcome.success && !outcome.isRepeated) refused.push(call.name)
    if (!tool && !last) unknown.push(call.name)
  }
  const isDone = refused.length + unknown.length === 0
  const tool = isDone ? resultTool : { ...resultTool, run: () => refuseResult(name, refused, unknown) }
  let result: { value: Result } | null = null
  for (const call of reply.tool_calls.filter((one) => one.name === name)) {
    const outcome = await executeCall(call, tool, { ...context, memory: null })
    if (outcome.success && !isEmpty(outcome.value)) result ??= { value: outcome.value }
    contents.set(call, answerToResult(name, resultTool, outcome))
  }
  for (const call of reply.tool_calls)
    messages.push({ role: 'tool', tool_call_id: call.id, content: contents.get(call) ?? '' })
  return result
}

function refuseResult(...rest: Parameters<typeof resultRefused>): never {
  throw new ToolError(resultRefused(...rest))
}

function answerToResult(name: string, { acknowledgement }: Tool, outcome: CallOutcome<unknown>): string {
  if (!outcome.success) return outcome.content
  return isEmpty(outcome.value) ? emptyResult(name) : (acknowledgement ?? outcome.content)
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === ''

/** Returns an error whose text begins with its name, because the status of the round shows only the text. */
const failure = (name: string, text: string) => new PlatformError(name, 500, `${name}: ${text}`)

/** Returns the first messages of a chain. Turns with an empty side are left out, because providers refuse them. */
function beginMessages(
  request: Pick<AgentRequest<unknown>, 'system' | 'conversation' | 'continues' | 'query'>,
): Message[] {
  const query: Message = { role: 'user', content: request.query }
  if (request.continues) {
    const { run, closing } = request.continues
    return [...run.messages, { role: 'assistant', content: closing }, query]
  }
  const messages: Message[] = request.system ? [{ role: 'system', content: request.system }] : []
  const conversation = (request.conversation ?? []).filter((turn) => turn.user !== '' && turn.assistant !== '')
  for (const turn of conversation)
    messages.push({ role: 'user', content: turn.user }, { role: 'assistant', content: turn.assistant })
  return [...messages, query]
}

/** Runs a chain within its span, which is ended also on failure; `outputOf` picks the output of the span. */
async function traceChain<T>(
  request: Pick<AgentRequest<unknown>, 'chain' | 'query' | 'trace'>,
  work: (chain: ChainTrace | undefined) => Promise<T>,
  outputOf: (result: T) => unknown,
): Promise<T> {
  const chain = request.trace?.chain(request.chain, request.query)
  const span = chain && { ...chain, end: (result: T) => chain.end(outputOf(result)) }
  return await inSpan(span, () => work(chain))
}

type Caller<Name extends string> = Pick<AgentRequest<unknown, Name>, 'llm' | 'chain' | 'role' | 'signal' | 'observe'>

/** Makes one model call of a chain, with span and event. Errors: those of the model client; the signal's reason. */
async function callModel<Name extends string>(
  { llm, chain, role, signal, observe }: Caller<Name>,
  messages: readonly Message[],
  offered: readonly Tool[],
  trace: ChainTrace | undefined,
  progress?: ReplyProgress,
): Promise<Inference> {
  signal.throwIfAborted()
  const tools = offered.map((tool) => tool.definition)
  const span = trace?.model({ role, messages, tools })
  return await inSpan(span, async () => {
    const started = performance.now()
    const request = { role, messages: [...messages], tools: tools.length > 0 ? tools : undefined, signal, progress }
    const reply = await llm.complete(request).finally(() => signal.throwIfAborted())
    const { model, usage, finish_raw: finish } = reply
    observe?.({ type: 'inference', chain, model, usage, durationMs: performance.now() - started, finish })
    return reply
  })
}

type TextRequest<Name extends string> = Pick<
  AgentRequest<string, Name>,
  'llm' | 'chain' | 'role' | 'system' | 'query' | 'conversation' | 'signal' | 'observe' | 'trace' | 'budget'
>

/** Requests a plain text from a model, without tools. A text that was cut off is accepted. */
export async function askText<Name extends string>(request: TextRequest<Name>): Promise<string> {
  const ask = async (chain: ChainTrace | undefined) => {
    const messages = beginMessages(request)
    const fitting = createFitting(request.budget, [messages.length - 1], { forget: () => {} })
    fitting.shorten(messages, [])
    const reply = await fitting.call(messages, [], () => callModel(request, messages, [], chain))
    return reply.text.trim()
  }
  return await traceChain(request, ask, (text) => text)
}
