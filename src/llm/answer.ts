import * as v from 'valibot'
import { isJsonObject, ownMember } from '../base/json.ts'
import { argumentsText } from './arguments.ts'
import type { Deployment } from './deployments.ts'
import { CallFailure, isRetryable, readError } from './failure.ts'
import type { Carry, FinishReason, Inference, ToolCall, ToolDefinition, Usage } from './inference.ts'
import type { Quirks } from './quirks.ts'
import { contentText } from './wire/chat.ts'
import { readWritten, withoutThoughts } from './written.ts'

const tokens = v.fallback(v.nullish(v.number(), 0), 0)
/** A text, or the list of its parts. */
export const contentSchema = v.optional(v.pipe(v.unknown(), v.transform(contentText)), '')
const text = v.fallback(v.nullish(v.string(), ''), '')
const called = v.looseObject({ name: text, arguments: v.optional(v.unknown()) })
const toolCall = v.looseObject({
  id: v.fallback(v.pipe(v.nullish(v.union([v.string(), v.number()]), ''), v.transform(String)), ''),
  function: v.nullish(called),
})
const usage = v.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: v.nullish(v.object({ cached_tokens: tokens, cache_write_tokens: tokens }), {}),
  prompt_cache_hit_tokens: tokens,
})
const messageSchema = v.looseObject({
  content: contentSchema,
  refusal: text,
  tool_calls: v.nullish(v.array(toolCall), []),
  // The form before `tool_calls`.
  function_call: v.nullish(called),
})
const choice = v.object({ finish_reason: text, error: v.nullish(v.unknown()), message: messageSchema })
const completion = v.object({
  choices: v.tupleWithRest([choice], choice),
  usage: v.fallback(v.nullish(usage, {}), () => v.parse(usage, {})),
})

const FINISH: Record<string, FinishReason> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'content_filter',
  // Some gateways pass on the values of the vendor behind them.
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  // That of an answer that was cut early because it repeats itself, by the platform or by a server.
  repetition: 'repetition',
}
/** What the words of servers have in common for an answer that was cut off, withheld or given up. */
const CUT_OFF = /length|max_?(new_)?tokens|context/i
const WITHHELD = /filter|safety|blocked|prohibited|sensitive|moderation/i
const INTERRUPTED = /abort|cancel|error|fail|insufficient|interrupt|overload|timeout|unavailable/i
/** The model wrote an unparsable tool call; another attempt may succeed. Some gateways put a prefix before it. */
const MALFORMED = /\bMALFORMED_FUNCTION_CALL$/

/**
 * Parses a chat-completions answer by what it holds: a complete call is a call and a complete text is a text, whatever
 * word the server ends them with. Throws `CallFailure`, which is retryable if the answer is no completion at all, for
 * example a page of a gateway, an empty body or half an object.
 * @param tools those of the request, in which calls within the text are looked for
 */
export function parseCompletion(
  deployment: Deployment,
  answer: unknown,
  tools: readonly ToolDefinition[] = [],
): Inference {
  const { model, carries, quirks, wire } = deployment
  if (isJsonObject(answer) && answer.error) throwProviderError(answer)
  const { choices, usage } = checkAnswer(completion, answer, 'chat completion')
  const { finish_reason: raw, error, message } = choices[0]
  if (error) throwProviderError({ error })
  const used = toUsage(usage)
  const again = (reason: string, status = 502) => new CallFailure(reason, status, { retryable: true, usage: used })
  if (MALFORMED.test(raw)) throw again(`the model called a tool in no readable form (${raw})`)
  const said = wire === 'chat' ? withoutThoughts(message.content) : message.content
  const given = callsOf(message)
  if (given.some(({ name }) => name === '')) throw again('the model called a tool without its name')
  const mayBeWritten = wire === 'chat' && quirks.writtenCalls
  const written = mayBeWritten && given.length === 0 && tools.length > 0 ? readWritten(said, tools) : null
  const toolCalls = written ? written.calls.map((call) => ({ id: '', ...call })) : given
  const finish = finishOf(raw, wire, toolCalls.length > 0, said !== '' || message.refusal !== '')
  if (finish === null && INTERRUPTED.test(raw)) throw again(`the answer was interrupted (${raw})`, 503)
  if (finish === null && raw === '') throw again('the answer is empty')
  const identified = withIds(toolCalls)
  const data = collectCarry(message, identified, quirks)
  return {
    model,
    text: (written?.text ?? said) || message.refusal,
    tool_calls: identified,
    finish,
    finish_raw: raw || 'none',
    usage: used,
    ...(data !== undefined && { carry: { for: carries, data } satisfies Carry }),
  }
}

/**
 * Returns the reason for the end of an answer. The words of the other wire forms are those of their vendors, so a word
 * that is not known there is an end that is not known.
 */
function finishOf(raw: string, wire: Deployment['wire'], hasCalls: boolean, hasText: boolean): FinishReason {
  const known = ownMember(FINISH, raw) ?? null
  if (known === 'max_tokens' || known === 'content_filter' || known === 'repetition') return known
  if (known !== null) return hasCalls ? 'tool_use' : known
  if (wire !== 'chat' && raw !== '') return null
  if (CUT_OFF.test(raw)) return 'max_tokens'
  if (WITHHELD.test(raw)) return 'content_filter'
  if (INTERRUPTED.test(raw)) return null
  if (hasCalls) return 'tool_use'
  return hasText ? 'end_turn' : null
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

/** Returns the calls of a message, without those in which nothing is. */
function callsOf({ tool_calls, function_call }: v.InferOutput<typeof messageSchema>): ToolCall[] {
  const listed = tool_calls.map((call) => ({ id: call.id, called: call.function ?? { name: '', arguments: null } }))
  const legacy = listed.length === 0 && function_call ? [{ id: '', called: function_call }] : []
  return [...listed, ...legacy].flatMap(({ id, called: { name, arguments: args } }) => {
    const text = argumentsText(args)
    return name === '' && text === '' ? [] : [{ id, name, arguments: text }]
  })
}

/** Gives each call an id of its own, because the result of a call refers to it: some servers leave ids out. */
const withIds = (calls: readonly ToolCall[]): ToolCall[] =>
  calls.map((call, index) => ({
    ...call,
    id:
      call.id !== '' && calls.findIndex(({ id }) => id === call.id) === index
        ? call.id
        : `call_${index + 1}_${crypto.randomUUID().slice(0, 8)}`,
  }))

/** Returns the usage of a completion that need not be whole; nothing where it has none. */
export function readUsage(answer: unknown): Usage {
  const parsed = v.safeParse(usage, isJsonObject(answer) ? (answer.usage ?? {}) : {})
  return toUsage(parsed.success ? parsed.output : v.parse(usage, {}))
}

function toUsage(used: v.InferOutput<typeof usage>): Usage {
  const { cached_tokens, cache_write_tokens } = used.prompt_tokens_details
  return {
    input_tokens: used.prompt_tokens,
    cached_tokens: cached_tokens || used.prompt_cache_hit_tokens,
    output_tokens: used.completion_tokens,
    ...(cache_write_tokens > 0 && { cache_write_tokens }),
  }
}
