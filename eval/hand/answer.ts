import * as v from 'valibot'
import { type ChatRequest, type ChatTool, readChatRequest } from '../../dev/chat-completions.ts'
import { createPrefixMemory } from '../../dev/scripted-model/clock.ts'
import { isJsonObject, parseJson } from '../../src/base/json.ts'
import { CHAINS } from '../../src/chains/index.ts'

const schema = v.strictObject({
  text: v.optional(v.string(), ''),
  tool_calls: v.optional(v.array(v.strictObject({ name: v.string(), arguments: v.optional(v.unknown(), {}) })), []),
  /** Sends the answer even if it has an unknown tool or arguments that are no JSON object, as weak models do. */
  as_is: v.optional(v.boolean(), false),
})

/** The answer to a call. Arguments are JSON texts, as a model writes them. */
export interface HandAnswer {
  text: string
  calls: { name: string; arguments: string }[]
}

/** An answer that cannot be sent. The text says what to change. */
export class AnswerFault extends Error {}

/**
 * Reads an answer: `{text?, tool_calls?: [{name, arguments}], as_is?}`. Errors: `AnswerFault` for invalid texts,
 * unknown tools and empty answers; `as_is` allows the last two.
 */
export function readAnswer(source: string, tools: readonly ChatTool[]): HandAnswer {
  const parsed = v.safeParse(schema, readJson(source))
  if (!parsed.success) {
    const found = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'answer'}: ${issue.message}`).join('; ')
    const form = '{"text": "...", "tool_calls": [{"name": "...", "arguments": {...}}]}'
    throw new AnswerFault(`The answer has the form ${form}: ${found}.`)
  }
  const { text, tool_calls: calls, as_is: asIs } = parsed.output
  const answer = { text, calls: calls.map((call) => ({ name: call.name, arguments: argumentsText(call.arguments) })) }
  if (asIs) return answer
  const faults = answer.calls.flatMap((call) => callFaults(call, tools))
  if (text.trim() === '' && calls.length === 0) faults.push('The answer has neither text nor tool calls.')
  if (faults.length > 0) throw new AnswerFault(`${faults.join('\n')}\nWith "as_is": true it is sent all the same.`)
  return answer
}

function readJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown
  } catch (error) {
    throw new AnswerFault(`The answer is no JSON: ${error instanceof Error ? error.message : 'unknown error'}`)
  }
}

const argumentsText = (given: unknown): string => (typeof given === 'string' ? given : JSON.stringify(given))

function callFaults(call: HandAnswer['calls'][number], tools: readonly ChatTool[]): string[] {
  const names = tools.map(({ name }) => name)
  if (!names.includes(call.name))
    return [`This call offers no tool "${call.name}"; it offers ${names.join(', ') || 'none'}.`]
  if (isJsonObject(parseJson(call.arguments))) return []
  return [`The arguments of ${call.name} are no JSON object: ${call.arguments.slice(0, 80)}`]
}

/** Estimates tokens at four characters each. */
export const tokensOf = (chars: number): number => Math.ceil(chars / 4)

/** Counts the characters that a model would have written for an answer. */
export const outputChars = ({ text, calls }: HandAnswer): number =>
  text.length + calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)

/** A chat-completions request, in the form in which it is shown to people. */
export interface HandRequest extends ChatRequest {
  /** The tool whose call ends the conversation, which identifies the chain; `STATUS_TEXT` without any tool. */
  chain: string
}

/** The chain of calls without tools, which ask for a status sentence. */
export const STATUS_TEXT = 'status text'

const RESULT_TOOLS: ReadonlySet<string> = new Set(
  CHAINS.flatMap((chain) => ('resultTool' in chain ? [chain.resultTool().definition.name] : [])),
)

/** Reads the body of a request. Errors: `RangeError` with the fault. */
export function readRequest(body: unknown): HandRequest {
  const request = readChatRequest(body)
  const names = request.tools.map(({ name }) => name)
  return { ...request, chain: names.findLast((name) => RESULT_TOOLS.has(name)) ?? names.at(-1) ?? STATUS_TEXT }
}

/** Renders each message as a text that is equal for equal messages. */
export const messageKeys = ({ messages }: HandRequest): string[] => messages.map((each) => JSON.stringify(each))

/** Renders the request in the order of providers' caches: tools first, then the messages. */
const cacheText = (request: HandRequest): string => [JSON.stringify(request.tools), ...messageKeys(request)].join('\n')

export interface Measured {
  /** Characters of tools and messages together. */
  input_chars: number
  /** Length of the longest common beginning with an earlier call of the same model, as a provider's cache has it. */
  prefix_chars: number
}

/** Returns a function that measures a request and remembers it for later ones. */
export function createPrefixes() {
  const memory = createPrefixMemory()
  return (request: HandRequest): Measured => {
    const text = cacheText(request)
    return { input_chars: text.length, prefix_chars: memory.add(request.model, text) }
  }
}
