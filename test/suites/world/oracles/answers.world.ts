import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/base/log.ts'
import { DOCUMENTED } from './answers.ts'
import { BEDROCK, converseAnswer } from './clients/bedrock.ts'
import { GOOGLE, generated } from './clients/google.ts'
import { OPENING, TOOLS } from './conversation.ts'
import { interceptor, ourClient, understood } from './exchange.ts'
import { sdk } from './sdks.ts'

const serve = interceptor()
const ask = (ours: Parameters<typeof ourClient>[0]) =>
  ourClient(ours).complete({ role: 'main', messages: OPENING, tools: TOOLS })

describe('an answer of the documentation', () => {
  it.each(
    DOCUMENTED.map(([what, oracle, body]) => [oracle.ours.model, what, oracle, body] as const),
  )('%s: %s is read as its client reads it', async (_model, _what, oracle, body) => {
    serve({ body })
    const theirs = oracle.read(await oracle.begin())
    serve({ body })
    expect(understood(await ask(oracle.ours))).toEqual(theirs)
  })
})

/** The result of each reason that a client knows: a word of `src/llm`, another attempt, or an end without a word. */
type Fate = 'end_turn' | 'max_tokens' | 'content_filter' | 'tool_use' | 'repeated' | 'unknown'
const GOOGLE_FATES: Record<string, Fate> = {
  FINISH_REASON_UNSPECIFIED: 'unknown',
  STOP: 'end_turn',
  MAX_TOKENS: 'max_tokens',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  OTHER: 'unknown',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'repeated',
  UNEXPECTED_TOOL_CALL: 'repeated',
  TOO_MANY_TOOL_CALLS: 'repeated',
  MALFORMED_RESPONSE: 'repeated',
  IMAGE_SAFETY: 'content_filter',
  // Only models that draw end with these, or such as speak for minutes.
  IMAGE_PROHIBITED_CONTENT: 'unknown',
  NO_IMAGE: 'unknown',
  IMAGE_RECITATION: 'unknown',
  IMAGE_OTHER: 'unknown',
  CONTINUATION: 'unknown',
}
const BEDROCK_FATES: Record<string, Fate> = {
  content_filtered: 'content_filter',
  end_turn: 'end_turn',
  guardrail_intervened: 'content_filter',
  malformed_model_output: 'repeated',
  malformed_tool_use: 'repeated',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'end_turn',
  tool_use: 'tool_use',
}

async function fateOf(ours: Parameters<typeof ourClient>[0], body: object): Promise<string> {
  const sent = serve({ body })
  const controller = new AbortController()
  const pending = ourClient(ours, { ...silentLogger, warn: () => controller.abort() }).complete({
    role: 'main',
    messages: OPENING,
    signal: controller.signal,
  })
  return pending.then(
    ({ finish }) => finish ?? 'unknown',
    () => (controller.signal.aborted && sent.length === 1 ? 'repeated' : 'refused'),
  )
}

describe('every reason that a client knows for an end', () => {
  const reasons = (values: object) => Object.values(values).map(String)

  it.each(reasons(sdk('@google/genai').FinishReason))('of Google has its consequence: %s', async (reason) => {
    const body = generated([{ text: 'Hi' }], reason)
    expect(await fateOf(GOOGLE[0]?.ours ?? { model: '' }, body)).toBe(GOOGLE_FATES[reason])
  })

  it.each(
    reasons(sdk('@aws-sdk/client-bedrock-runtime').StopReason),
  )('of Bedrock has its consequence: %s', async (reason) => {
    const body = converseAnswer([{ text: 'Hi' }], reason)
    expect(await fateOf(BEDROCK[0]?.ours ?? { model: '' }, body)).toBe(BEDROCK_FATES[reason])
  })

  it.each(
    reasons(sdk('@google/genai').BlockedReason),
  )('that Google blocks a prompt for is a filter: %s', async (blockReason) => {
    expect(await fateOf(GOOGLE[0]?.ours ?? { model: '' }, { promptFeedback: { blockReason } })).toBe('content_filter')
  })
})
