import type { Inference, Message } from '../llm/inference.ts'
import { type ChainTrace, inSpan } from '../observe/run-trace.ts'
import type { AgentRequest, Tool } from './agent-request.ts'
import { createFitting } from './fit-messages.ts'

/** Returns the first messages of a chain. Turns with an empty side are left out, because providers refuse them. */
export function beginMessages(
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
export async function traceChain<T>(
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
export async function callModel<Name extends string>(
  { llm, chain, role, signal, observe }: Caller<Name>,
  messages: readonly Message[],
  offered: readonly Tool[],
  trace: ChainTrace | undefined,
): Promise<Inference> {
  signal.throwIfAborted()
  const tools = offered.map((tool) => tool.definition)
  const span = trace?.model({ role, messages, tools })
  return await inSpan(span, async () => {
    const started = performance.now()
    const request = { role, messages: [...messages], tools: tools.length > 0 ? tools : undefined, signal }
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
