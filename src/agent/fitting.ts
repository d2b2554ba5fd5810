import type { Message } from '../llm/types.ts'
import type { CallMemory } from './call-memory.ts'
import type { ContextBudget } from './context-budget.ts'
import { estimateMessages, fitMessages } from './fit-messages.ts'
import { isOverlong, shareToKeep } from './overlong.ts'
import type { Tool } from './types.ts'

/** Keeps the messages of one chain within the input that its model takes. */
export interface Fitting {
  /** Shortens the messages in place until they fit; a call whose answer was cut may be made again. */
  shorten(messages: Message[], tools: readonly Tool[]): void
  /** Asks the model; asks once more with shorter messages when the provider says that they are too long. */
  call<Reply>(messages: Message[], tools: readonly Tool[], ask: () => Promise<Reply>): Promise<Reply>
}

/**
 * @param queries as in `fitMessages`
 * @param memory forgets calls whose answer was cut, so that they may be made again
 */
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
