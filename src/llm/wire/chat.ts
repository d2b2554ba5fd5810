import { isJsonObject, parseJson } from '../../base/json.ts'
import { argumentsText } from '../arguments.ts'
import { readError } from '../failure.ts'
import type { Assembler, ChatCall, StreamSink, Wire } from './wire.ts'

/** The chat-completions form itself: requests and answers pass unchanged. */
export const chatWire: Wire = {
  name: 'chat',
  encode: () => null,
  decode: (answer) => answer,
  assembler: createChatAssembler,
}

type Fields = Record<string, unknown>

/** Servers differ in indexes, ids, and in whether a part comes whole. An error event is the answer itself. */
function createChatAssembler(sink: StreamSink): Assembler {
  const message: Fields & { content: string } = { role: 'assistant', content: '' }
  const calls: StreamedCall[] = []
  /** The message that some servers send whole, in place of a delta or beside it. */
  let whole: Fields = {}
  let finishReason: unknown = null
  let usage: unknown
  let ours: unknown
  let chunks = 0
  let failed: Fields | null = null
  const tell = createTeller(calls, sink)
  return {
    add: (event) => {
      if (failed || !isJsonObject(event)) return
      const choices = Array.isArray(event.choices) ? event.choices.filter(isJsonObject) : null
      if (event.error || (!choices && readError(event))) failed = chunks > 0 ? interrupted(event) : event
      if (failed || !choices) return
      chunks++
      usage = event.usage ?? (isJsonObject(event.x_groq) ? event.x_groq.usage : null) ?? usage
      for (const choice of choices) {
        ours ??= choice.index ?? 0
        if ((choice.index ?? 0) !== ours) continue
        if (choice.error) failed ??= interrupted(choice)
        if (isJsonObject(choice.delta)) addDelta(message, calls, choice.delta, sink)
        if (isJsonObject(choice.message)) whole = choice.message
        finishReason = choice.finish_reason ?? finishReason
      }
      tell(isEnd(finishReason))
    },
    answer: () => {
      if (failed || chunks === 0) return failed
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
    },
    isEnded: () => failed !== null || isEnd(finishReason),
  }
}

/** Some servers send an empty text or false as long as the answer goes on. */
const isEnd = (finishReason: unknown): boolean => Boolean(finishReason)

/** Tells each call once: when the next one has begun or the answer has ended, and its arguments are complete. */
function createTeller(calls: readonly StreamedCall[], sink: StreamSink): (isEnded: boolean) => void {
  let told = 0
  return (isEnded) => {
    for (; told < calls.length - (isEnded ? 0 : 1); told++) {
      const { name, arguments: written } = calls[told]?.function ?? { name: '', arguments: '' }
      const args = argumentsText(written)
      if (!isJsonObject(parseJson(args))) return
      sink.call({ name, arguments: args })
    }
  }
}

/** Returns an error event of a stream that had begun: the request was accepted, so another attempt may succeed. */
function interrupted(event: Fields): Fields {
  const error = readError(event)
  return error && error.status === null
    ? { error: { message: error.message, code: 502 } }
    : { error: event.error ?? event }
}

function addDelta(
  message: Fields & { content: string },
  calls: StreamedCall[],
  delta: Fields,
  { text }: Pick<StreamSink, 'text'>,
): void {
  const { tool_calls, function_call, content, ...fields } = delta
  const said = contentText(content)
  // Some servers send the same thoughts under both names.
  const thought = fields.reasoning_content ?? fields.reasoning
  text(typeof thought === 'string' ? thought + said : said)
  message.content += said
  for (const [key, value] of Object.entries(fields)) message[key] = mergeField(message[key], value)
  const listed = (Array.isArray(tool_calls) ? tool_calls : [tool_calls]).filter(isJsonObject)
  for (const call of listed) text(addCall(calls, call))
  // The form before `tool_calls`, with a single call and no id; some servers send both.
  if (listed.length === 0 && isJsonObject(function_call))
    text(addCall(calls, { index: 'function_call', function: function_call }))
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
  return Array.isArray(before) && Array.isArray(value) ? value.reduce<unknown[]>(appendItem, before) : value
}

/** Appends an item to a list. The pieces of one text among thoughts, such as `reasoning.text`, are joined. */
function appendItem(list: readonly unknown[], item: unknown): unknown[] {
  const last = list.at(-1)
  const isPiece =
    isJsonObject(last) &&
    isJsonObject(item) &&
    item.type === 'reasoning.text' &&
    last.type === item.type &&
    last.index === item.index
  if (!isPiece) return [...list, item]
  const given = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
  return [...list.slice(0, -1), { ...last, ...given, text: textIn(last) + textIn(item) }]
}

const textIn = ({ text }: Fields): string => (typeof text === 'string' ? text : '')

interface StreamedCall extends Fields {
  /** As the server counts; absent when it does not. */
  index: unknown
  id: string
  function: { name: string; arguments: string }
}

/** Adds a part of a call, and returns what the model wrote of it. */
function addCall(calls: StreamedCall[], { index, id: given, function: called, ...rest }: Fields): string {
  const { name: givenName, arguments: args } = isJsonObject(called) ? called : {}
  const id = typeof given === 'string' || typeof given === 'number' ? String(given) : ''
  const name = typeof givenName === 'string' ? givenName : ''
  const continued = findContinued(calls, { index, id, name })
  const call = continued ?? { index, id, function: { name: '', arguments: '' } }
  if (!continued) calls.push(call)
  for (const [key, value] of Object.entries(rest)) call[key] ??= value
  call.id ||= id
  const { function: parts } = call
  const written = continued ? '' : name
  if (name !== parts.name) parts.name += name
  if (args === null || args === undefined) return written
  // Some servers send the arguments as an object, and then whole.
  if (typeof args !== 'string') parts.arguments = JSON.stringify(args)
  else parts.arguments += args
  return written + (typeof args === 'string' ? args : parts.arguments)
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
