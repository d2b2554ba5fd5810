import * as v from 'valibot'
import { CallFailure, isRetryable } from './call-failure.ts'
import type { FinishReason, Inference, ToolCall, Usage } from './types.ts'

const tokens = v.nullish(v.number(), 0)
const content = v.nullish(v.union([v.string(), v.array(v.object({ text: v.nullish(v.string(), '') }))]), '')
const toolCall = v.object({
  id: v.nullish(v.string(), ''),
  function: v.object({
    name: v.string(),
    arguments: v.nullish(v.union([v.string(), v.record(v.string(), v.unknown())]), ''),
  }),
})
const usage = v.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: v.nullish(v.object({ cached_tokens: tokens })),
})
const completion = v.object({
  choices: v.pipe(
    v.array(
      v.object({
        finish_reason: v.nullish(v.string(), ''),
        message: v.object({ content, refusal: v.nullish(v.string(), ''), tool_calls: v.nullish(v.array(toolCall), []) }),
      }),
    ),
    v.minLength(1),
  ),
  usage: v.nullish(usage),
})
const failure = v.object({
  error: v.union([
    v.pipe(
      v.string(),
      v.transform((message) => ({ message, code: null })),
    ),
    v.object({ message: v.nullish(v.string(), 'unknown error'), code: v.nullish(v.union([v.string(), v.number()]), null) }),
  ]),
})

const FINISH: Record<string, FinishReason> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'content_filter',
}

/**
 * A chat-completions answer in our own terms. Errors: `CallFailure`, retryable for an answer that is no
 * completion at all (a gateway's page, nothing, half an object).
 */
export function parseCompletion(model: string, answer: unknown): Inference {
  refuseError(answer)
  const parsed = v.safeParse(completion, answer)
  const choice = parsed.success ? parsed.output.choices[0] : undefined
  if (!parsed.success || !choice) throw new CallFailure('the answer is not a chat completion', 502, { retryable: true })
  const raw = choice.finish_reason
  return {
    model,
    text: textOf(choice.message.content) || choice.message.refusal,
    tool_calls: choice.message.tool_calls.map(toToolCall),
    finish: Object.hasOwn(FINISH, raw) ? (FINISH[raw] ?? null) : null,
    finish_raw: raw || 'none',
    usage: toUsage(parsed.output.usage),
  }
}

/** Some gateways answer 200 with an error inside. */
export function refuseError(answer: unknown): void {
  const failed = v.safeParse(failure, answer)
  if (!failed.success) return
  const { message, code } = failed.output.error
  const status = Number(code)
  const is_status = Number.isInteger(status) && status >= 400 && status <= 599
  throw new CallFailure(message, is_status ? status : 502, { retryable: is_status && isRetryable(status) })
}

const textOf = (value: v.InferOutput<typeof content>) => (typeof value === 'string' ? value : value.map((part) => part.text).join(''))

const toToolCall = (call: v.InferOutput<typeof toolCall>, index: number): ToolCall => ({
  // The answer to a call refers to its id; some servers leave it empty.
  id: call.id || `call_${index + 1}_${crypto.randomUUID().slice(0, 8)}`,
  name: call.function.name,
  arguments: typeof call.function.arguments === 'string' ? call.function.arguments : JSON.stringify(call.function.arguments),
})

const toUsage = (used: v.InferOutput<typeof usage> | null | undefined): Usage => ({
  input_tokens: used?.prompt_tokens ?? 0,
  cached_tokens: used?.prompt_tokens_details?.cached_tokens ?? 0,
  output_tokens: used?.completion_tokens ?? 0,
})
