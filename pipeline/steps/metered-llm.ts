import type { LlmClient } from '../../src/llm/types.ts'
import type { BareRun } from '../run.ts'

/** A client that asks the session's budget before each call; searches are told to the meter, the agent tells it the rest. */
export const meteredLlm = (llm: LlmClient, { budget, meter }: Pick<BareRun, 'budget' | 'meter'>): LlmClient => ({
  complete: async (request) => {
    budget?.check()
    const answer = await llm.complete(request)
    budget?.spend(answer.usage)
    return answer
  },
  search: async (query, options) => {
    budget?.check()
    return llm.search(query, {
      ...options,
      observe: (used) => {
        budget?.spend(used.usage)
        meter.search(used)
        options?.observe?.(used)
      },
    })
  },
})
