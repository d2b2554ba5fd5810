import { type ChatRequest, readChatRequest } from '../../dev/chat-completions.ts'
import { CHAINS } from '../../src/chains/index.ts'

/** A chat-completions request, in the form in which it is shown to people. */
export interface HandRequest extends ChatRequest {
  /** The tool whose call ends the conversation, by which chains are told apart; `STATUS_TEXT` without any tool. */
  chain: string
}

/** The chain of calls that have no tools: they ask for one sentence about what goes on. */
export const STATUS_TEXT = 'status text'

const RESULT_TOOLS: ReadonlySet<string> = new Set(
  CHAINS.flatMap((chain) => ('resultTool' in chain ? [chain.resultTool().definition.name] : [])),
)

/** Reads the body of a request. Errors: `RangeError` that says what is wrong with it. */
export function readRequest(body: unknown): HandRequest {
  const request = readChatRequest(body)
  const names = request.tools.map(({ name }) => name)
  return { ...request, chain: names.findLast((name) => RESULT_TOOLS.has(name)) ?? names.at(-1) ?? STATUS_TEXT }
}

/** One text for each message. Two messages are the same when their texts are. */
export const messageKeys = ({ messages }: HandRequest): string[] => messages.map((each) => JSON.stringify(each))

/** The request as one text in the order in which providers cache it: tools first, then the messages. */
const cacheText = (request: HandRequest): string => [JSON.stringify(request.tools), ...messageKeys(request)].join('\n')

export interface Measured {
  /** Characters of tools and messages together. */
  input_chars: number
  /** Of these the longest beginning that an earlier call of the same model had, which a provider's cache would serve. */
  prefix_chars: number
}

/** Remembers requests, and measures how far a new one begins like any of them. */
export function createPrefixes() {
  const seen: { model: string; text: string }[] = []
  return {
    /** Measures a request and remembers it. A call that still waits for its answer counts as an earlier one. */
    add(request: HandRequest): Measured {
      const text = cacheText(request)
      const lengths = seen.filter(({ model }) => model === request.model).map((one) => commonLength(one.text, text))
      seen.push({ model: request.model, text })
      return { input_chars: text.length, prefix_chars: Math.max(0, ...lengths) }
    },
  }
}

/** Counts the characters that two texts have in common at their beginning. */
function commonLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length)
  let length = 0
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}
