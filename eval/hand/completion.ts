import type { HandAnswer } from './answer.ts'
import type { Measured } from './prefixes.ts'
import type { HandRequest } from './request.ts'

/** Estimates tokens by the usual rule of thumb: four characters make one token. */
export const tokensOf = (chars: number): number => Math.ceil(chars / 4)

/** How many characters a model would have written for an answer. */
export const outputChars = ({ text, calls }: HandAnswer): number =>
  text.length + calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)

interface Parts {
  call: number
  request: Pick<HandRequest, 'model'>
  measured: Measured
  answer: HandAnswer
}

/** The answer as a chat completion. */
export function completionOf(parts: Parts): object {
  const { finish_reason, message } = choiceOf(parts)
  return { ...headOf(parts, 'chat.completion'), choices: [{ index: 0, finish_reason, message }], usage: usageOf(parts) }
}

/** The answer as the events of a stream: the message, its end with the usage, and the mark of the end. */
export function eventsOf(parts: Parts): string {
  const { finish_reason, message } = choiceOf(parts)
  const head = headOf(parts, 'chat.completion.chunk')
  const delta = {
    ...message,
    ...(message.tool_calls && { tool_calls: message.tool_calls.map((call, index) => ({ index, ...call })) }),
  }
  const chunks = [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage: usageOf(parts) },
  ]
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
}

const headOf = ({ call, request }: Parts, object: string) => ({
  id: `hand-${call}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: request.model,
})

function choiceOf({ call, answer: { text, calls } }: Parts) {
  const toolCalls = calls.map((each, index) => ({
    id: `call_${call}_${index}`,
    type: 'function' as const,
    function: { name: each.name, arguments: each.arguments },
  }))
  return {
    finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
    message: {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
  }
}

function usageOf({ measured, answer }: Parts) {
  const input = tokensOf(measured.input_chars)
  const output = tokensOf(outputChars(answer))
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: Math.min(input, Math.floor(measured.prefix_chars / 4)) },
  }
}
