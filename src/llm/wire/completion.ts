import type { ChatCall } from './types.ts'

/** What a translated answer is made of. */
export interface Translated {
  text: string
  calls: ChatCall[]
  finish_reason: string
  usage: { input: number; cached: number; cache_write: number; output: number }
  /** What the provider wants back with the conversation; undefined when nothing. */
  carry?: unknown
}

/** The chat-completions form of an answer. */
export const completion = ({ text, calls, finish_reason, usage, carry }: Translated) => ({
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      finish_reason,
      message: {
        role: 'assistant',
        content: text === '' ? null : text,
        ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ ...call, type: 'function' })) }),
        ...(carry !== undefined && { carry }),
      },
    },
  ],
  usage: {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cache_write },
  },
})
