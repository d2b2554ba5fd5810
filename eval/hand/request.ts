import { type ChatRequest, readChatRequest } from '../../dev/chat-completions.ts'
import { CHAINS } from '../../src/chains/index.ts'

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

/** Remembers requests, and measures the common beginning of a new one with them. */
export function createPrefixes() {
  const seen: { model: string; text: string }[] = []
  return {
    /** Measures a request and remembers it, before it is answered. */
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
