import type { Masker } from '../../src/base/masking.ts'
import type { LlmClient, Message } from '../../src/llm/types.ts'

/** A client whose every message passes the masker first, tool results and the model's own words included. */
export const maskedLlm = (llm: LlmClient, masker: Masker): LlmClient => ({
  complete: (request) =>
    llm.complete({ ...request, messages: request.messages.map((message) => masked(message, masker)) }),
  search: (query, options) => llm.search(masker.text(query), options),
})

function masked(message: Message, masker: Masker): Message {
  if (message.role !== 'assistant') return { ...message, content: masker.text(message.content) }
  const { carry, ...rest } = message
  return {
    ...rest,
    // It is signed or opaque: unchanged or not at all.
    ...(carry && isClean(carry.data, masker) && { carry }),
    content: message.content === null ? null : masker.text(message.content),
    ...(message.tool_calls && {
      tool_calls: message.tool_calls.map((call) => ({ ...call, arguments: masker.text(call.arguments) })),
    }),
  }
}

function isClean(data: unknown, masker: Masker): boolean {
  const text = JSON.stringify(data) ?? ''
  return masker.text(text) === text
}
