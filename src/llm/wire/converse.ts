import * as v from 'valibot'
import { thinkingFields } from './anthropic.ts'
import { arrangeBlocks, type BlockOrder, carriedOrder, readOrder } from './blocks.ts'
import { toCompletion } from './chat.ts'
import {
  type AssistantMessage,
  argumentsObject,
  type ChatRequest,
  capOf,
  isRecord,
  plainId,
  type Wire,
} from './types.ts'

type Block = Record<string, unknown>
interface Turn {
  role: 'user' | 'assistant'
  content: Block[]
}

/** Models whose prompts can be cached by marks in them. */
const CACHING = /anthropic\.claude-(3-7|(opus|sonnet|haiku|fable|mythos)-)/
const CACHE_POINT = { cachePoint: { type: 'default' } }

/** The Converse API, the one form for all families of models of that provider. */
export const converseWire: Wire = {
  name: 'converse',
  encode: (request) => ({ path: `/model/${encodeURIComponent(request.model)}/converse`, body: converseBody(request) }),
  decode,
  // Its streams are binary and have an address of their own.
  assemble: () => null,
}

function converseBody(request: ChatRequest): object {
  const system: Block[] = request.messages.flatMap((message) =>
    message.role === 'system' ? [{ text: message.content }] : [],
  )
  const turns = turnsOf(request)
  if (CACHING.test(request.model)) {
    if (system.length > 0) system.push(CACHE_POINT)
    turns.at(-1)?.content.push(CACHE_POINT)
  }
  const tools = (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    toolSpec: {
      name,
      ...(description && { description }),
      inputSchema: { json: parameters ?? { type: 'object', properties: {} } },
    },
  }))
  const thinking = thinkingFields(request.model, request.reasoning_effort)
  return {
    ...(system.length > 0 && { system }),
    messages: turns,
    inferenceConfig: {
      maxTokens: capOf(request),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
    },
    ...(tools.length > 0 && { toolConfig: { tools, toolChoice: { auto: {} } } }),
    ...(Object.keys(thinking).length > 0 && { additionalModelRequestFields: thinking }),
  }
}

function turnsOf({ messages }: ChatRequest): Turn[] {
  const turns: Turn[] = []
  const add = (role: Turn['role'], content: Block[]) => {
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content })
  }
  for (const message of messages) {
    if (message.role === 'user') add('user', [{ text: message.content || ' ' }])
    else if (message.role === 'tool')
      add('user', [
        { toolResult: { toolUseId: plainId(message.tool_call_id), content: [{ text: message.content || ' ' }] } },
      ])
    else if (message.role === 'assistant') add('assistant', assistantBlocks(message))
  }
  return turns
}

function assistantBlocks(message: AssistantMessage): Block[] {
  const calls = (message.tool_calls ?? []).map((call) => ({
    toolUse: { toolUseId: plainId(call.id), name: call.function.name, input: argumentsObject(call.function.arguments) },
  }))
  return arrangeBlocks<Block>(
    { text: message.content ?? '', calls },
    (text) => ({ text }),
    readOrder(message.carry),
    (reasoningContent) => ({ reasoningContent }),
  )
}

const count = v.nullish(v.number(), 0)
const answerSchema = v.object({
  output: v.object({ message: v.object({ content: v.array(v.looseObject({})) }) }),
  stopReason: v.nullish(v.string(), ''),
  usage: v.nullish(
    v.object({ inputTokens: count, outputTokens: count, cacheReadInputTokens: count, cacheWriteInputTokens: count }),
  ),
})
const toolUse = v.object({ toolUseId: v.nullish(v.string(), ''), name: v.string(), input: v.nullish(v.unknown(), {}) })

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
}
/** The model's slip, which another attempt may mend. */
const MALFORMED = ['malformed_model_output', 'malformed_tool_use']

function decode(answer: unknown): unknown {
  const parsed = v.safeParse(answerSchema, answer)
  if (!parsed.success) return answer
  const { output, stopReason, usage } = parsed.output
  if (MALFORMED.includes(stopReason))
    return { error: { message: `the model answered in no readable form (${stopReason})`, code: 502 } }
  const calls = []
  const order: BlockOrder = []
  let text = ''
  for (const block of output.message.content) {
    const call = v.safeParse(toolUse, block.toolUse)
    if (call.success) {
      calls.push({
        id: call.output.toolUseId,
        function: { name: call.output.name, arguments: JSON.stringify(call.output.input) },
      })
      order.push('call')
    } else if (typeof block.text === 'string') {
      text += block.text
      order.push(block.text.length)
    } else if (isRecord(block.reasoningContent)) order.push({ thought: block.reasoningContent })
  }
  const cached = usage?.cacheReadInputTokens ?? 0
  const cacheWrite = usage?.cacheWriteInputTokens ?? 0
  return toCompletion({
    text,
    calls,
    finish_reason: Object.hasOwn(FINISH, stopReason) ? (FINISH[stopReason] ?? stopReason) : stopReason,
    usage: {
      input: (usage?.inputTokens ?? 0) + cached + cacheWrite,
      cached,
      cache_write: cacheWrite,
      output: usage?.outputTokens ?? 0,
    },
    carry: carriedOrder(order),
  })
}

/** The JSON values of a `text/event-stream` body; `[DONE]`, comments and what is no JSON are passed over. */
export function readEvents(text: string): unknown[] {
  return text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .flatMap((data) => {
      try {
        return data === '' ? [] : [JSON.parse(data) as unknown]
      } catch {
        return []
      }
    })
}

/** Whether a body is a stream of events, whatever its content type says. */
export const isEventStream = (contentType: string, text: string): boolean =>
  contentType.includes('text/event-stream') || /^\s*(event|data): ?\S/.test(text)
