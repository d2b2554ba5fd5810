import { infer } from './infer.ts'
import { openingMessages } from './opening-messages.ts'
import { traced } from './traced.ts'
import type { AgentRequest } from './types.ts'

/**
 * One plain-text call without tools (STATUS_UPDATE). The finish reason is not checked: a cut text is
 * still a text.
 */
export async function askText(
  request: Pick<AgentRequest<string>, 'llm' | 'chain' | 'role' | 'system' | 'query' | 'conversation' | 'signal' | 'observe' | 'trace'>,
): Promise<string> {
  return await traced(
    request,
    async (chain) => (await infer(request, openingMessages(request), [], chain)).text.trim(),
    (text) => text,
  )
}
