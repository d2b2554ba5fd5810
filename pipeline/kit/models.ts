import { PlatformError } from '../../src/base/errors.ts'
import type { Masker } from '../../src/base/masking.ts'
import type { LlmClient, Message } from '../../src/llm/inference.ts'
import type { RoundRecording } from './round-recorder.ts'
import type { BareRun, TokenBudget } from './run.ts'

/** A client that masks every message before it is sent, also tool results and earlier answers of the model. */
export const createMaskedLlm = (llm: LlmClient, masker: Masker): LlmClient => ({
  complete: (request) =>
    llm.complete({ ...request, messages: request.messages.map((message) => maskMessage(message, masker)) }),
  search: (query, options) => llm.search(masker.text(query), options),
  ...askingWhetherItSearches(llm),
})

/** The answer of the client whether it can search, for clients that wrap it. */
const askingWhetherItSearches = ({ canSearch }: LlmClient) => canSearch && { canSearch }

function maskMessage(message: Message, masker: Masker): Message {
  if (message.role !== 'assistant') return { ...message, content: masker.text(message.content) }
  const { carry, ...rest } = message
  return {
    ...rest,
    // The provider has signed or encoded `carry`, so it cannot be masked: it is sent unchanged or left out.
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

/**
 * A client that checks the session's token budget before each call. It reports searches to the meter; all other
 * calls are reported by the agent loop.
 */
export const createMeteredLlm = (llm: LlmClient, { budget, meter }: Pick<BareRun, 'budget' | 'meter'>): LlmClient => ({
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
        meter.recordSearch(used)
        options?.observe?.(used)
      },
    })
  },
  ...askingWhetherItSearches(llm),
})

/**
 * Makes the token budget of a session.
 * @param limit tokens that all rounds of the session may use together
 * @param before tokens that earlier rounds have used
 * @param onSpend gets what is used by now, after each call of a model
 */
export function createTokenBudget(
  limit: number,
  before: number,
  onSpend: (used: number) => void = () => {},
): TokenBudget {
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
      onSpend(used)
    },
  }
}

/** Makes `BareRun.openModel`: metering first, then recording, then masking around both. */
export const createModelOpener =
  (llm: LlmClient, recording?: Pick<RoundRecording, 'client'>): BareRun['openModel'] =>
  (run, masker) => {
    const metered = createMeteredLlm(llm, run)
    return createMaskedLlm(recording?.client(metered, masker) ?? metered, masker)
  }
