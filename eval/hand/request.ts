import * as v from 'valibot'
import { CHAINS } from '../../src/chains/index.ts'

const text = v.pipe(
  v.nullish(v.union([v.string(), v.array(v.looseObject({ text: v.optional(v.string(), '') }))]), null),
  v.transform((content) => (Array.isArray(content) ? content.map((part) => part.text).join('') : (content ?? ''))),
)
const tool = v.object({
  function: v.object({
    name: v.string(),
    description: v.optional(v.string(), ''),
    parameters: v.optional(v.unknown(), {}),
  }),
})
const message = v.looseObject({
  role: v.string(),
  content: text,
  tool_call_id: v.nullish(v.string(), null),
  tool_calls: v.nullish(
    v.array(v.object({ id: v.string(), function: v.object({ name: v.string(), arguments: v.string() }) })),
    [],
  ),
})
const schema = v.object({
  model: v.string(),
  stream: v.nullish(v.boolean(), false),
  messages: v.pipe(v.array(message), v.minLength(1, 'messages: a list that is not empty is required')),
  tools: v.nullish(v.array(tool), []),
})

export interface HandTool {
  name: string
  description: string
  parameters: unknown
}
export interface HandMessage {
  role: string
  text: string
  /** The id of the call that this message answers; null for all other messages. */
  answers: string | null
  calls: { id: string; name: string; arguments: string }[]
}

/** A chat-completions request, in the form in which it is shown to people. */
export interface HandRequest {
  model: string
  /** Whether the client wants the answer as a stream of events. */
  stream: boolean
  messages: HandMessage[]
  tools: HandTool[]
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
  const parsed = v.safeParse(schema, body)
  if (!parsed.success)
    throw new RangeError(parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`).join('; '))
  const { model, stream, messages, tools } = parsed.output
  const names = tools.map((each) => each.function.name)
  return {
    model,
    stream: stream ?? false,
    messages: messages.map(({ role, content, tool_call_id: answers, tool_calls: calls }) => ({
      role,
      text: content,
      answers: answers ?? null,
      calls: (calls ?? []).map(({ id, function: called }) => ({ id, ...called })),
    })),
    tools: tools.map(({ function: { name, description, parameters } }) => ({ name, description, parameters })),
    chain: names.findLast((name) => RESULT_TOOLS.has(name)) ?? names.at(-1) ?? STATUS_TEXT,
  }
}

/** One text for each message. Two messages are the same when their texts are. */
export const messageKeys = ({ messages }: HandRequest): string[] => messages.map((each) => JSON.stringify(each))

/** The request as one text in the order in which providers cache it: tools first, then the messages. */
export const cacheText = (request: HandRequest): string =>
  [JSON.stringify(request.tools), ...messageKeys(request)].join('\n')
