import type { ChainTrace } from '../observe/trace-types.ts'
import { createFitting } from './fitting.ts'
import { beginMessages, callModel, traceChain } from './model-call.ts'
import type { AgentRequest } from './types.ts'

type TextRequest<Name extends string> = Pick<
  AgentRequest<string, Name>,
  'llm' | 'chain' | 'role' | 'system' | 'query' | 'conversation' | 'signal' | 'observe' | 'trace' | 'budget'
>

/**
 * Asks a model once for a plain text, without tools. The finish reason is not checked: a text that was cut off is still
 * a text.
 */
export async function askText<Name extends string>(request: TextRequest<Name>): Promise<string> {
  return await traceChain(
    request,
    (chain) => askOnce(request, chain),
    (text) => text,
  )
}

async function askOnce<Name extends string>(
  request: TextRequest<Name>,
  chain: ChainTrace | undefined,
): Promise<string> {
  const messages = beginMessages(request)
  const fitting = createFitting(request.budget, [messages.length - 1], { forget: () => {} })
  fitting.shorten(messages, [])
  const reply = await fitting.call(messages, [], () => callModel(request, messages, [], chain))
  return reply.text.trim()
}
