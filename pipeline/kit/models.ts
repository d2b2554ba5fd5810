import type { Masker } from '../../src/base/masking.ts'
import type { LlmClient, Message } from '../../src/llm/inference.ts'
import type { RoundRecording } from './recording.ts'
import type { BareRun } from './run.ts'

/** Wraps a client so that every message is masked, including tool results and earlier replies. */
export const createMaskedLlm = (llm: LlmClient, masker: Masker): LlmClient => ({
  ...llm,
  complete: (request) =>
    llm.complete({ ...request, messages: request.messages.map((message) => maskMessage(message, masker)) }),
  search: (query, options) => llm.search(masker.text(query), options),
})

function maskMessage(message: Message, masker: Masker): Message {
  if (message.role !== 'assistant') return { ...message, content: masker.text(message.content) }
  const { carry, ...rest } = message
  // The provider has signed or encoded `carry`, so it cannot be masked: it is sent unchanged or left out.
  const carried = JSON.stringify(carry?.data) ?? ''
  return {
    ...rest,
    ...(carry && masker.text(carried) === carried && { carry }),
    content: message.content === null ? null : masker.text(message.content),
    ...(message.tool_calls && {
      tool_calls: message.tool_calls.map((call) => ({ ...call, arguments: masker.text(call.arguments) })),
    }),
  }
}

/** Wraps a client so that calls check the token budget and searches are metered. */
const createMeteredLlm = (llm: LlmClient, { budget, meter }: Pick<BareRun, 'budget' | 'meter'>): LlmClient => ({
  ...llm,
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
})

/** Creates `BareRun.openModel`: metering inside, then recording, then masking around both. */
export const createModelOpener =
  (llm: LlmClient, recording?: Pick<RoundRecording, 'client'>): BareRun['openModel'] =>
  (run, masker) => {
    const metered = createMeteredLlm(llm, run)
    return createMaskedLlm(recording?.client(metered, masker) ?? metered, masker)
  }
