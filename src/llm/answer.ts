import * as v from 'valibot'
import { isJsonObject, ownMember } from '../base/json.ts'
import type { Deployment } from './deployments.ts'
import { CallFailure, isRetryable, readError } from './failure.ts'
import type { Carry, FinishReason, Inference, ToolCall, Usage } from './inference.ts'
import type { Quirks } from './quirks.ts'

const tokens = v.nullish(v.number(), 0)
/** A text, or the list of its parts. */
export const contentSchema = v.pipe(
  v.nullish(v.union([v.string(), v.array(v.object({ text: v.nullish(v.string(), '') }))]), ''),
  v.transform((content) => (typeof content === 'string' ? content : content.map(({ text }) => text).join(''))),
)
const toolCall = v.looseObject({
  id: v.nullish(v.string(), ''),
  function: v.object({
    name: v.string(),
    arguments: v.nullish(v.union([v.string(), v.record(v.string(), v.unknown())]), ''),
  }),
})
const usage = v.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: v.nullish(v.object({ cached_tokens: tokens, cache_write_tokens: tokens }), {}),
  prompt_cache_hit_tokens: tokens,
})
const messageSchema = v.looseObject({
  content: contentSchema,
  refusal: v.nullish(v.string(), ''),
  tool_calls: v.nullish(v.array(toolCall), []),
})
const choice = v.object({
  finish_reason: v.nullish(v.string(), ''),
  error: v.nullish(v.unknown()),
  message: messageSchema,
})
const completion = v.object({ choices: v.tupleWithRest([choice], choice), usage: v.nullish(usage, {}) })

const FINISH: Record<string, FinishReason> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'content_filter',
  // Some gateways pass on the values of the vendor behind them.
  end_turn: 'end_turn',
  tool_use: 'tool_use',
}
/** Finish reasons for an answer that the provider aborted for lack of resources. */
const INTERRUPTED = ['insufficient_system_resource']
/** The model wrote an unparsable tool call; another attempt may succeed. Some gateways put a prefix before it. */
const MALFORMED = /\bMALFORMED_FUNCTION_CALL$/

/**
 * Parses a chat-completions answer. Throws `CallFailure`, which is retryable if the answer is no completion at all, for
 * example a page of a gateway, an empty body or half an object.
 */
export function parseCompletion({ model, carries, quirks }: Deployment, answer: unknown): Inference {
  if (isJsonObject(answer) && answer.error) throwProviderError(answer)
  const { choices, usage } = checkAnswer(completion, answer, 'chat completion')
  const { finish_reason: raw, error, message } = choices[0]
  if (error) throwProviderError({ error })
  if (MALFORMED.test(raw))
    throw new CallFailure(`the model called a tool in no readable form (${raw})`, 502, { retryable: true })
  if (INTERRUPTED.includes(raw)) throw new CallFailure(`the answer was interrupted (${raw})`, 503, { retryable: true })
  const toolCalls = message.tool_calls.map(toToolCall)
  const data = collectCarry(message, toolCalls, quirks)
  // One provider appends the name of the filter: `content_filter: SAFETY`.
  const kind = raw.replace(/^(content_filter): .*$/, '$1')
  const finishReason = ownMember(quirks.finish, kind) ?? kind
  return {
    model,
    text: message.content || message.refusal,
    tool_calls: toolCalls,
    finish: ownMember(FINISH, finishReason) ?? null,
    finish_raw: raw || 'none',
    usage: toUsage(usage),
    ...(data !== undefined && { carry: { for: carries, data } satisfies Carry }),
  }
}

/** Checks an answer. Throws the `CallFailure` of the error that it holds, else a retryable one that it is no `what`. */
export function checkAnswer<S extends v.GenericSchema>(schema: S, answer: unknown, what: string): v.InferOutput<S> {
  const parsed = v.safeParse(schema, answer)
  if (parsed.success) return parsed.output
  throwProviderError(answer)
  throw new CallFailure(`the answer is not a ${what}`, 502, { retryable: true })
}

/** Throws `CallFailure` when the answer holds an error: some gateways answer 200 with an error in the body. */
function throwProviderError(answer: unknown): void {
  const error = readError(answer)
  if (!error) return
  throw new CallFailure(error.message, error.status ?? 502, {
    retryable: error.status !== null && isRetryable(error.status),
  })
}

/**
 * Returns the data that must be sent back to the provider with this message: the `carry` of a wire form, or else the
 * fields that the quirks name under `echo`. Undefined when there is none.
 */
function collectCarry(
  message: v.InferOutput<typeof messageSchema>,
  toolCalls: readonly ToolCall[],
  { echo }: Quirks,
): unknown {
  if (message.carry !== undefined) return message.carry
  if (echo.length === 0) return undefined
  const fields = Object.fromEntries(echo.flatMap((name) => (message[name] == null ? [] : [[name, message[name]]])))
  const calls = Object.fromEntries(
    message.tool_calls.flatMap((call, index) =>
      echo.includes('extra_content') && call.extra_content != null
        ? [[toolCalls[index]?.id ?? '', { extra_content: call.extra_content }]]
        : [],
    ),
  )
  const data = { ...fields, ...(Object.keys(calls).length > 0 && { calls }) }
  return Object.keys(data).length > 0 ? data : undefined
}

const toToolCall = (call: v.InferOutput<typeof toolCall>, index: number): ToolCall => ({
  // The result of a call refers to its id, so a call needs one even if the server leaves it empty.
  id: call.id || `call_${index + 1}_${crypto.randomUUID().slice(0, 8)}`,
  name: call.function.name,
  arguments:
    typeof call.function.arguments === 'string' ? call.function.arguments : JSON.stringify(call.function.arguments),
})

function toUsage(used: v.InferOutput<typeof usage>): Usage {
  const { cached_tokens, cache_write_tokens } = used.prompt_tokens_details
  return {
    input_tokens: used.prompt_tokens,
    cached_tokens: cached_tokens || used.prompt_cache_hit_tokens,
    output_tokens: used.completion_tokens,
    ...(cache_write_tokens > 0 && { cache_write_tokens }),
  }
}
