import type { ChainTrace } from '../observe/trace-types.ts'
import { createFitting } from './fitting.ts'
import { infer } from './infer.ts'
import { openingMessages } from './opening-messages.ts'
import { traced } from './traced.ts'
import type { AgentRequest } from './types.ts'

type TextRequest = Pick<
  AgentRequest<string>,
  'llm' | 'chain' | 'role' | 'system' | 'query' | 'conversation' | 'signal' | 'observe' | 'trace' | 'budget'
>

/**
 * One plain-text call without tools (STATUS_UPDATE). The finish reason is not checked: a cut text is
 * still a text.
 */
export async function askText(request: TextRequest): Promise<string> {
  return await traced(
    request,
    (chain) => askOnce(request, chain),
    (text) => text,
  )
}

async function askOnce(request: TextRequest, chain: ChainTrace | undefined): Promise<string> {
  const messages = openingMessages(request)
  const fitting = createFitting(request.budget, messages.length - 1, { forget: () => {} })
  fitting.shorten(messages, [])
  const reply = await fitting.call(messages, [], () => infer(request, messages, [], chain))
  return reply.text.trim()
}
