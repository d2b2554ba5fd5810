import type { Inference, Message } from '../llm/types.ts'
import type { ChainTrace } from '../observe/trace-types.ts'
import { createCallMemory } from './call-memory.ts'
import { toolExecutionsExceeded, unhandledFinishReason } from './errors.ts'
import { type CallContext, executeCall } from './execute-call.ts'
import { createFitting } from './fitting.ts'
import { infer } from './infer.ts'
import { emptyReplyNotice, emptySentinel, lastTurnNotice, reminder } from './notices.ts'
import { openingMessages } from './opening-messages.ts'
import { traced } from './traced.ts'
import type { AgentRequest, AgentResult, Tool } from './types.ts'
import { addUsage, noUsage } from './usage.ts'

const MAX_RESULT_CHARS = 200_000

/**
 * Lets a model work with tools until it calls the sentinel; that call's result is the value. One turn is
 * one model call; every tool call of a reply is answered, in order.
 * Errors: `PlatformError` `ToolExecutionsExceeded` after `max_turns` turns without a sentinel,
 * `UnhandledInferenceFinishReason` for a reply that was cut off or filtered, those of the model client;
 * the signal's reason when the signal fires.
 */
export async function runAgent<Result>(request: AgentRequest<Result>): Promise<AgentResult<Result>> {
  return await traced(
    request,
    (chain) => runLoop(request, chain),
    ({ value }) => value,
  )
}

async function runLoop<Result>(
  request: AgentRequest<Result>,
  chain: ChainTrace | undefined,
): Promise<AgentResult<Result>> {
  const { sentinel, max_turns, signal } = request
  const name = sentinel.definition.name
  const messages = openingMessages(request)
  const memory = createCallMemory()
  const fitting = createFitting(request.budget, messages.length - 1, memory)
  let usage = noUsage()
  for (let turn = 1; turn <= max_turns; turn++) {
    const last = turn === max_turns
    if (last && request.tools?.length) addNotice(messages, lastTurnNotice(name))
    fitting.shorten(messages, [...(request.tools ?? []), sentinel])
    const offered = offeredTools(request, last, memory.isWithdrawn)
    const reply = await fitting.call(messages, offered, () => infer(request, messages, offered, chain))
    usage = addUsage(usage, reply.usage)
    if (reply.finish !== 'end_turn' && reply.finish !== 'tool_use') throw unhandledFinishReason(reply.finish_raw)
    if (reply.tool_calls.length === 0) {
      answerWithoutCalls(messages, reply, name)
      continue
    }
    messages.push({ role: 'assistant', content: reply.text || null, tool_calls: reply.tool_calls, ...carried(reply) })
    const context: CallContext = {
      chain: request.chain,
      offered: new Map(offered.map((tool) => [tool.definition.name, tool])),
      memory,
      max_result_chars: request.max_result_chars ?? MAX_RESULT_CHARS,
      signal,
      observe: request.observe,
      trace: chain,
    }
    const found = await answerCalls<Result>(messages, reply, sentinel, context)
    if (found) return { value: found.value, messages, turns: turn, usage }
  }
  throw toolExecutionsExceeded(max_turns)
}

function offeredTools(request: AgentRequest<unknown>, last: boolean, isWithdrawn: (name: string) => boolean): Tool[] {
  if (last) return [request.sentinel]
  const tools = (request.tools ?? []).filter((tool) => !isWithdrawn(tool.definition.name))
  return [...tools, request.sentinel]
}

/** Text is kept and answered with a reminder; an empty reply is not kept and the same content is sent again with a notice. */
function answerWithoutCalls(messages: Message[], reply: Inference, sentinel: string): void {
  if (reply.text.trim() === '') addNotice(messages, emptyReplyNotice(sentinel))
  else
    messages.push(
      { role: 'assistant', content: reply.text, ...carried(reply) },
      { role: 'user', content: reminder(sentinel) },
    )
}

/** What the provider wants back with its own words. */
const carried = ({ carry }: Inference) => (carry ? { carry } : {})

/** Joins the notice to the message that is sent last: some providers refuse a user message after a tool result. */
function addNotice(messages: Message[], notice: string): void {
  const last = messages.at(-1)
  if (last?.content == null || last.content.endsWith(notice)) return
  messages[messages.length - 1] = { ...last, content: `${last.content}\n\n${notice}` }
}

/** Runs all calls, also those after a successful sentinel; the first successful sentinel gives the value. */
async function answerCalls<Result>(
  messages: Message[],
  reply: Inference,
  sentinel: Tool<Result>,
  context: CallContext,
): Promise<{ value: Result } | null> {
  let found: { value: Result } | null = null
  for (const call of reply.tool_calls) {
    if (call.name !== sentinel.definition.name) {
      const { content } = await executeCall(call, context.offered.get(call.name), context)
      messages.push({ role: 'tool', tool_call_id: call.id, content })
      continue
    }
    const outcome = await executeCall(call, sentinel, { ...context, memory: null })
    const empty = outcome.success && isEmpty(outcome.value)
    messages.push({ role: 'tool', tool_call_id: call.id, content: empty ? emptySentinel(call.name) : outcome.content })
    if (outcome.success && !empty) found ??= { value: outcome.value }
  }
  return found
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
