import * as v from 'valibot'
import { isJsonObject } from '../../base/json.ts'
import type { ChatCall, Wire } from './wire.ts'

/** The chat-completions form itself: requests and answers pass unchanged. */
export const chatWire: Wire = { name: 'chat', encode: () => null, decode: (answer) => answer, assemble: assembleChat }

const callSchema = v.looseObject({
  index: v.nullish(v.number()),
  id: v.nullish(v.string(), ''),
  function: v.nullish(v.object({ name: v.nullish(v.string(), ''), arguments: v.nullish(v.string(), '') })),
})
const chunkSchema = v.object({
  choices: v.array(
    v.object({
      index: v.nullish(v.number(), 0),
      delta: v.nullish(v.looseObject({ tool_calls: v.nullish(v.array(callSchema), []) }), { tool_calls: [] }),
      finish_reason: v.nullish(v.string()),
    }),
  ),
  usage: v.nullish(v.unknown()),
})

type Call = Record<string, unknown> & { id: string; type: 'function'; function: { name: string; arguments: string } }

/** Assembles a completion from its stream; null without a chunk. An error event is returned itself. */
function assembleChat(events: readonly unknown[]): unknown {
  const failed = events.find((event) => isJsonObject(event) && isJsonObject(event.error))
  if (failed) return failed
  const message: Record<string, unknown> & { content: string } = { role: 'assistant', content: '' }
  const calls: Call[] = []
  let finishReason: string | null = null
  let usage: unknown
  let hasChunk = false
  for (const event of events) {
    const parsed = v.safeParse(chunkSchema, event)
    if (!parsed.success) continue
    hasChunk = true
    usage = parsed.output.usage ?? usage
    for (const choice of parsed.output.choices.filter(({ index }) => index === 0)) {
      const { tool_calls, ...fields } = choice.delta
      for (const [key, value] of Object.entries(fields)) message[key] = mergeField(message[key], value)
      for (const delta of tool_calls ?? []) addCall(calls, delta)
      finishReason = choice.finish_reason ?? finishReason
    }
  }
  if (!hasChunk) return null
  return {
    choices: [
      {
        index: 0,
        finish_reason: finishReason,
        message: { ...message, ...(calls.length > 0 && { tool_calls: calls }) },
      },
    ],
    usage,
  }
}

/** Merges a field with the next chunk's: texts and lists are appended, but not the role; other values are replaced. */
function mergeField(before: unknown, value: unknown): unknown {
  if (value === null || value === undefined || value === 'assistant') return before
  if (typeof before === 'string' && typeof value === 'string') return before + value
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}

function addCall(calls: Call[], { index, id, function: called, ...rest }: v.InferOutput<typeof callSchema>): void {
  // Some servers send no index of the call. Then a chunk with a name begins a new call.
  const at = index ?? (called?.name ? calls.length : Math.max(calls.length - 1, 0))
  const call = calls[at] ?? { id: '', type: 'function', function: { name: '', arguments: '' } }
  calls[at] = {
    ...rest,
    ...call,
    id: call.id || (id ?? ''),
    function: {
      name: call.function.name || (called?.name ?? ''),
      arguments: call.function.arguments + (called?.arguments ?? ''),
    },
  }
}

/** The parts of an answer that a wire form translates. */
export interface TranslatedAnswer {
  text: string
  calls: ChatCall[]
  finish_reason: string
  usage: { input: number; cached: number; cache_write: number; output: number }
  /** Data that the provider wants back with the conversation, if any. */
  carry?: unknown
}

/** Makes a chat completion of these parts. */
export const toCompletion = ({ text, calls, finish_reason, usage, carry }: TranslatedAnswer) => ({
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      finish_reason,
      message: {
        role: 'assistant',
        content: text === '' ? null : text,
        ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ ...call, type: 'function' })) }),
        ...(carry !== undefined && { carry }),
      },
    },
  ],
  usage: {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cache_write },
  },
})
