import { PlatformError } from '../base/errors.ts'
import type { Message } from '../llm/inference.ts'
import type { Tool } from './agent-request.ts'
import type { CallMemory } from './call-memory.ts'
import type { ContextBudget } from './context-budget.ts'
import { estimateMessages, fitMessages } from './fit-messages.ts'

/** Keeps the messages of one chain within the input limit of its model. */
export interface Fitting {
  /** Shortens the messages in place until they fit; calls whose result was cut may be repeated. */
  shorten(messages: Message[], tools: readonly Tool[]): void
  /** Calls the model, and once more with shorter messages when the provider reports that they are too long. */
  call<Reply>(messages: Message[], tools: readonly Tool[], ask: () => Promise<Reply>): Promise<Reply>
}

/** Creates the fitting of a chain; `queries` are those of `fitMessages`. */
export function createFitting(
  budget: ContextBudget | undefined,
  queries: readonly number[],
  memory: Pick<CallMemory, 'forget'>,
): Fitting {
  if (!budget) return { shorten: () => {}, call: (_, __, ask) => ask() }
  let limit = budget.tokens
  const shorten = (messages: Message[], tools: readonly Tool[]): boolean => {
    const before = [...messages]
    const tokens = limit - estimateTools(tools, budget)
    const fitted = fitMessages(messages, queries, { ...budget, tokens })
    messages.splice(0, messages.length, ...fitted.messages)
    for (const id of fitted.cut) memory.forget(id)
    return messages.some((message, index) => message !== before[index])
  }
  return {
    shorten,
    call: async (messages, tools, ask) => {
      try {
        return await ask()
      } catch (error) {
        if (!isOverlong(error)) throw error
        limit = (estimateMessages(messages, budget) + estimateTools(tools, budget)) * shareToKeep(error.message)
        if (!shorten(messages, tools)) throw error
        return await ask()
      }
    },
  }
}

const estimateTools = (tools: readonly Tool[], { estimate }: ContextBudget): number =>
  tools.reduce((total, { definition }) => total + estimate(JSON.stringify(definition)), 0)

const EXCEED = "exceed(s|ed|ing)? (the |this |its )?(model'?s? |available |allowed )*(maximum |max )?(allowed )?"

/** Error texts of providers about a prompt that is too long for the model. */
const OVERLONG = [
  /prompt is too long/i,
  /\b(prompt|input|request|context|conversation|message)s? (is |are |was )?too (long|large)\b/i,
  /maximum (context|prompt|input|sequence) (length|window|size|tokens)/i,
  /(context|prompt|input|token)[_ -]?(length|window|size|limit|count|tokens)?[_ -]?(is |was )?exceed(ed|s)?\b/i,
  new RegExp(`${EXCEED}(context|input|prompt|token|number of tokens|sequence)`, 'i'),
  /(max_tokens|max_new_tokens)[`']? (exceed|must be <=)/i,
  /reduce the length of (the|your) (messages|prompt|input)/i,
  /(greater|longer|larger) than the (model'?s )?(maximum )?context/i,
  /too large for model with \d+ maximum context/i,
  /too many (input )?tokens/i,
  /request_too_large|request exceeds the maximum size/i,
  /context_length_exceeded|model_context_window_exceeded/i,
]
const NOT_OVERLONG = /rate.?limit|quota|thrott|per (minute|day|second)|please wait|try again later/i
const STATUSES = new Set([400, 413, 422, 500, 502])

/** True if a model call failed because its input was too long. */
export function isOverlong(error: unknown): error is PlatformError {
  if (!(error instanceof PlatformError) || error.code !== 'InferenceCallAPIError' || !STATUSES.has(error.status))
    return false
  return (
    error.status === 413 ||
    (!NOT_OVERLONG.test(error.message) && OVERLONG.some((pattern) => pattern.test(error.message)))
  )
}

const NUMBER = /(?<![\w.,/-])(?:\d{1,3}(?:,\d{3})+|\d{4,9})(?![\w/-])/g

/** Returns the share to keep, 0.1 to 0.7: a limit of 100,000 and a length of 150,000 give 0.6. */
export function shareToKeep(text: string): number {
  const numbers = [...text.matchAll(NUMBER)].map(([number]) => Number(number.replaceAll(',', ''))).sort((a, b) => b - a)
  const [largest = 1, second = largest] = numbers
  return Math.min(0.7, Math.max(0.1, (second / largest) * 0.9))
}
