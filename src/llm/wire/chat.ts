import { isJsonObject, parseJson } from '../../base/json.ts'
import { readError } from '../failure.ts'
import type { ChatCall, Wire } from './wire.ts'

/** The chat-completions form itself: requests and answers pass unchanged. */
export const chatWire: Wire = { name: 'chat', encode: () => null, decode: (answer) => answer, assemble: assembleChat }

type Fields = Record<string, unknown>

/**
 * Assembles a completion from its stream, by what the chunks hold: servers differ in indexes, ids, and in whether a
 * part comes whole. Null without a chunk. An error event is returned itself.
 */
function assembleChat(events: readonly unknown[]): unknown {
  const message: Fields & { content: string } = { role: 'assistant', content: '' }
  const calls: StreamedCall[] = []
  /** The message that some servers send whole, in place of a delta or beside it. */
  let whole: Fields = {}
  let finishReason: unknown = null
  let usage: unknown
  let ours: unknown
  let chunks = 0
  for (const event of events) {
    if (!isJsonObject(event)) continue
    const choices = Array.isArray(event.choices) ? event.choices.filter(isJsonObject) : null
    if (event.error || (!choices && readError(event))) return chunks > 0 ? interrupted(event) : event
    if (!choices) continue
    chunks++
    usage = event.usage ?? usage
    for (const choice of choices) {
      ours ??= choice.index ?? 0
      if ((choice.index ?? 0) !== ours) continue
      if (choice.error) return interrupted(choice)
      if (isJsonObject(choice.delta)) addDelta(message, calls, choice.delta)
      if (isJsonObject(choice.message)) whole = choice.message
      finishReason = choice.finish_reason ?? finishReason
    }
  }
  if (chunks === 0) return null
  const streamed = {
    ...message,
    ...(calls.length > 0 && { tool_calls: calls.map(({ index: _, ...call }) => call) }),
  }
  const isEmpty = message.content === '' && calls.length === 0
  return {
    choices:
      ours === undefined
        ? []
        : [{ finish_reason: finishReason, message: isEmpty ? { ...streamed, ...whole } : streamed }],
    usage,
  }
}

/** Returns an error event of a stream that had begun: the request was accepted, so another attempt may succeed. */
function interrupted(event: Fields): Fields {
  const error = readError(event)
  return error && error.status === null
    ? { error: { message: error.message, code: 502 } }
    : { error: event.error ?? event }
}

function addDelta(message: Fields & { content: string }, calls: StreamedCall[], delta: Fields): void {
  const { tool_calls, function_call, content, ...fields } = delta
  message.content += contentText(content)
  for (const [key, value] of Object.entries(fields)) message[key] = mergeField(message[key], value)
  const listed = (Array.isArray(tool_calls) ? tool_calls : [tool_calls]).filter(isJsonObject)
  for (const call of listed) addCall(calls, call)
  // The form before `tool_calls`, with a single call and no id; some servers send both.
  if (listed.length === 0 && isJsonObject(function_call))
    addCall(calls, { index: 'function_call', function: function_call })
}

/** Returns a text, or the texts of a list of parts; parts of another kind, such as thoughts, have none. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** Merges a field with the next chunk's: texts and lists are appended, but not the role; other values are replaced. */
function mergeField(before: unknown, value: unknown): unknown {
  if (value === null || value === undefined || value === 'assistant') return before
  if (typeof before === 'string' && typeof value === 'string') return before + value
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}

interface StreamedCall extends Fields {
  /** As the server counts; absent when it does not. */
  index: unknown
  id: string
  function: { name: string; arguments: string }
}

function addCall(calls: StreamedCall[], { index, id: given, function: called, ...rest }: Fields): void {
  const { name: givenName, arguments: args } = isJsonObject(called) ? called : {}
  const id = typeof given === 'string' || typeof given === 'number' ? String(given) : ''
  const name = typeof givenName === 'string' ? givenName : ''
  const continued = findContinued(calls, { index, id, name })
  const call = continued ?? { index, id, function: { name: '', arguments: '' } }
  if (!continued) calls.push(call)
  for (const [key, value] of Object.entries(rest)) call[key] ??= value
  call.id ||= id
  const { function: parts } = call
  if (name !== parts.name) parts.name += name
  // Some servers send the arguments as an object, and then whole.
  if (typeof args === 'string') parts.arguments += args
  else if (args !== null && args !== undefined) parts.arguments = JSON.stringify(args)
}

/**
 * Finds the call that a chunk continues; undefined if it begins a new one. An id of its own makes a call, whatever its
 * index: several servers count each parallel call as the first. Others send id and name again with every chunk.
 */
function findContinued(
  calls: readonly StreamedCall[],
  { index, id, name }: { index: unknown; id: string; name: string },
): StreamedCall | undefined {
  const isCounted = index !== undefined && index !== null
  const isAt = (call: StreamedCall) => !isCounted || call.index === index
  const known = id === '' ? undefined : calls.findLast((call) => call.id === id && (name === '' || isAt(call)))
  if (known) return known
  const last = calls.findLast(isAt)
  if (!last || name === '') return last
  if (id !== '' && last.id !== '') return undefined
  const { name: before, arguments: args } = last.function
  // Nothing of the arguments yet: the rest of the name, or the name again.
  if (args === '') return isCounted ? last : undefined
  return name === before && parseJson(args) === undefined ? last : undefined
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
