import type { Message } from '../llm/types.ts'
import type { AgentRequest } from './types.ts'

/** System text, earlier pairs and the query. A pair with an empty side would be refused by providers and is left out. */
export function openingMessages(request: Pick<AgentRequest<unknown>, 'system' | 'conversation' | 'query'>): Message[] {
  const messages: Message[] = request.system ? [{ role: 'system', content: request.system }] : []
  const conversation = (request.conversation ?? []).filter((turn) => turn.user !== '' && turn.assistant !== '')
  for (const turn of conversation)
    messages.push({ role: 'user', content: turn.user }, { role: 'assistant', content: turn.assistant })
  messages.push({ role: 'user', content: request.query })
  return messages
}
