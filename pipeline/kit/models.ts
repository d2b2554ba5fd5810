import { PlatformError } from '../../src/base/errors.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { LlmClient, Message, Usage } from '../../src/llm/types.ts'
import type { RoundRecording } from '../../src/observe/round-recorder.ts'
import type { BareRun } from './run.ts'

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

/** What a session may still spend on models. */
export interface TokenBudget {
  /** Errors: `PlatformError` `TokenBudgetExceeded` when nothing is left. */
  check(): void
  spend(usage: Usage): void
}

/**
 * @param limit tokens of all rounds of the session together
 * @param before what earlier rounds used
 */
export function createTokenBudget(limit: number, before: number): TokenBudget {
  let used = before
  return {
    check: () => {
      if (used < limit) return
      throw new PlatformError(
        'TokenBudgetExceeded',
        429,
        `the session has used ${used} tokens, its limit is ${limit} (llm.max_session_tokens).`,
      )
    },
    spend: ({ input_tokens, output_tokens }) => {
      used += input_tokens + output_tokens
    },
  }
}

/** What `BareRun.openModel` is made of. */
export const modelOpener =
  (llm: LlmClient, recording?: Pick<RoundRecording, 'client'>): BareRun['openModel'] =>
  (run, masker) => {
    const metered = meteredLlm(llm, run)
    return maskedLlm(recording?.client(metered, masker) ?? metered, masker)
  }
