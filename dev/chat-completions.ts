import * as v from 'valibot'

const content = v.pipe(
  v.nullish(v.union([v.string(), v.array(v.looseObject({ text: v.optional(v.string(), '') }))]), null),
  v.transform((value) => (Array.isArray(value) ? value.map((part) => part.text).join('') : value)),
)
const call = v.pipe(
  v.object({ id: v.string(), function: v.object({ name: v.string(), arguments: v.string() }) }),
  v.transform(({ id, function: called }) => ({ id, ...called })),
)
const message = v.pipe(
  v.looseObject({
    role: v.picklist(['system', 'developer', 'user', 'assistant', 'tool']),
    content,
    tool_call_id: v.nullish(v.string(), null),
    tool_calls: v.nullish(v.array(call), []),
  }),
  v.transform(({ role, content: text, tool_call_id, tool_calls }) => ({
    role,
    text,
    /** Id of the call that this message answers; null for all other messages. */
    answers: tool_call_id,
    calls: tool_calls,
  })),
)
const tool = v.pipe(
  v.object({
    function: v.object({
      name: v.string(),
      description: v.optional(v.string(), ''),
      parameters: v.optional(v.unknown(), {}),
    }),
  }),
  v.transform((value) => value.function),
)
const request = v.object({
  model: v.string(),
  stream: v.nullish(v.boolean(), false),
  messages: v.pipe(v.array(message), v.minLength(1, 'messages: a list that is not empty is required')),
  tools: v.nullish(v.array(tool), []),
})

/** The parts of a chat-completions request that counterparts of the platform read. */
export type ChatRequest = v.InferOutput<typeof request>
export type ChatMessage = ChatRequest['messages'][number]
export type ChatTool = ChatRequest['tools'][number]
/** A tool call, whose arguments are JSON text as a model writes it. */
type ChatCall = v.InferOutput<typeof call>

/** Reads the body of a request. Errors: `RangeError` with the fault. */
export function readChatRequest(body: unknown): ChatRequest {
  const parsed = v.safeParse(request, body)
  if (parsed.success) return parsed.output
  throw new RangeError(parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`).join('; '))
}

export interface ChatAnswer {
  id: string
  model: string
  text: string
  calls: readonly ChatCall[]
  /** By default it follows from text and calls. */
  finish?: string | null
  usage: { input: number; output: number; cached?: number }
}

export function chatCompletion(answer: ChatAnswer): object {
  const { finish_reason, message: said, usage } = partsOf(answer)
  return { ...headOf(answer, 'chat.completion'), choices: [{ index: 0, finish_reason, message: said }], usage }
}

/** Renders the answer as the events of a stream: the message, its end with the usage, and the end mark. */
export function chatCompletionEvents(answer: ChatAnswer): string {
  const { message: said } = partsOf(answer)
  const delta = {
    ...said,
    ...(said.tool_calls && { tool_calls: said.tool_calls.map((one, index) => ({ index, ...one })) }),
  }
  return chatEvent(answer, delta) + chatStreamEnd(answer)
}

/** Renders a piece of the message as an event of a stream. */
export const chatEvent = (answer: ChatAnswer, delta: object): string =>
  sseData({ ...chunkOf(answer), choices: [{ index: 0, delta, finish_reason: null }] })

/** Renders the end of a stream: the reason of the end with the usage, and the end mark. */
export function chatStreamEnd(answer: ChatAnswer): string {
  const { finish_reason, usage } = partsOf(answer)
  return `${sseData({ ...chunkOf(answer), choices: [{ index: 0, delta: {}, finish_reason }], usage })}data: [DONE]\n\n`
}

const chunkOf = (answer: ChatAnswer) => headOf(answer, 'chat.completion.chunk')

/** Renders a value as a server-sent event without a name. */
export const sseData = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

export const chatError = (text: string) => ({ error: { message: text, type: 'invalid_request_error', code: null } })

const headOf = ({ id, model }: ChatAnswer, object: string) => ({
  id,
  object,
  created: Math.floor(Date.now() / 1000),
  model,
})

function partsOf({ text, calls, finish, usage: { input, output, cached = 0 } }: ChatAnswer) {
  const tool_calls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }))
  return {
    finish_reason: finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish,
    message: { role: 'assistant', content: text || null, ...(calls.length > 0 && { tool_calls }) },
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  }
}
