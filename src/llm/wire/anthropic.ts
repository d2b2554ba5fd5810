import * as v from 'valibot'
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
  type WireRequest,
} from './types.ts'

type Block = Record<string, unknown>
interface Turn {
  role: 'user' | 'assistant'
  content: Block[]
}

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
const CACHED = { cache_control: { type: 'ephemeral' } }
/** Which models think by themselves, and which after being given a budget. */
const ADAPTIVE = /claude-(opus|sonnet|haiku)-(4-[6-9]|[5-9])|claude-(fable|mythos)/
const BUDGETED = /claude-(3-7|(opus|sonnet|haiku)-4)/
const THINKING_BUDGET = 1024

/**
 * The Messages API: system text apart, tool results inside of user turns, arguments as objects, breakpoints
 * of the prompt cache behind system text and last turn.
 * @param form where a request goes and what is in it besides the conversation
 */
export const anthropicWire = (form: (model: string) => WireRequest): Wire => ({
  name: 'anthropic',
  encode: (request) => {
    const { path, body, headers } = form(request.model)
    return { path, headers, body: { ...body, ...messagesBody(request) } }
  },
  decode,
  assemble: assembleMessages,
  resume: (sent, answer) => {
    if (
      !isRecord(answer) ||
      answer.stop_reason !== 'pause_turn' ||
      !('messages' in sent) ||
      !Array.isArray(sent.messages)
    )
      return null
    return { ...sent, messages: [...sent.messages, { role: 'assistant', content: answer.content }] }
  },
})

function messagesBody(request: ChatRequest): object {
  const system = request.messages
    .flatMap((message) => (message.role === 'system' ? [message.content] : []))
    .join('\n\n')
  const turns = turnsOf(request)
  const last = turns.at(-1)?.content
  if (last && last.length > 0) last[last.length - 1] = { ...last.at(-1), ...CACHED }
  const tools: object[] = (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    input_schema: parameters ?? { type: 'object', properties: {} },
  }))
  if (request.web_search_options) tools.push(SEARCH)
  return {
    max_tokens: capOf(request),
    ...(system !== '' && { system: [{ type: 'text', text: system, ...CACHED }] }),
    messages: turns,
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(tools.length > 0 && { tools, tool_choice: { type: 'auto' } }),
    ...thinkingFields(request.model, request.reasoning_effort),
  }
}

/** Low effort is a budget for models that know no effort, and nothing for those that cannot think. */
export function thinkingFields(model: string, effort: string | undefined): object {
  if (effort === undefined) return {}
  if (ADAPTIVE.test(model)) return { thinking: { type: 'adaptive' }, output_config: { effort } }
  return BUDGETED.test(model) ? { thinking: { type: 'enabled', budget_tokens: THINKING_BUDGET } } : {}
}

function turnsOf({ messages }: ChatRequest): Turn[] {
  const turns: Turn[] = []
  const add = (role: Turn['role'], content: Block[]) => {
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content })
  }
  for (const message of messages) {
    if (message.role === 'user') add('user', [{ type: 'text', text: message.content || ' ' }])
    else if (message.role === 'tool')
      add('user', [{ type: 'tool_result', tool_use_id: plainId(message.tool_call_id), content: message.content }])
    else if (message.role === 'assistant') add('assistant', assistantBlocks(message))
  }
  return turns
}

function assistantBlocks(message: AssistantMessage): Block[] {
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'tool_use',
    id: plainId(call.id),
    name: call.function.name,
    input: argumentsObject(call.function.arguments),
  }))
  return arrangeBlocks<Block>(
    { text: message.content ?? '', calls },
    (text) => ({ type: 'text', text }),
    readOrder(message.carry),
    (thought) => (isRecord(thought) ? thought : {}),
  )
}

const count = v.nullish(v.number(), 0)
const answerSchema = v.object({
  content: v.array(v.looseObject({ type: v.string() })),
  stop_reason: v.nullish(v.string(), ''),
  usage: v.nullish(
    v.object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
    }),
  ),
})
const toolUse = v.object({ id: v.nullish(v.string(), ''), name: v.string(), input: v.nullish(v.unknown(), {}) })

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
}

function decode(answer: unknown): unknown {
  const parseInput = v.safeParse(answerSchema, answer)
  if (!parseInput.success) return answer
  const { content, stop_reason, usage } = parseInput.output
  const calls = []
  const order: BlockOrder = []
  let text = ''
  for (const block of content) {
    const call = block.type === 'tool_use' ? v.safeParse(toolUse, block) : null
    if (call?.success) {
      calls.push({
        id: call.output.id,
        function: { name: call.output.name, arguments: JSON.stringify(call.output.input) },
      })
      order.push('call')
    } else if (block.type === 'text' && typeof block.text === 'string') {
      text += block.text
      order.push(block.text.length)
    } else if (block.type === 'thinking' || block.type === 'redacted_thinking') order.push({ thought: block })
  }
  const cached = usage?.cache_read_input_tokens ?? 0
  const cacheWrite = usage?.cache_creation_input_tokens ?? 0
  return toCompletion({
    text,
    calls,
    finish_reason: Object.hasOwn(FINISH, stop_reason) ? (FINISH[stop_reason] ?? stop_reason) : stop_reason,
    // Without what was read from the cache and written to it, here.
    usage: {
      input: (usage?.input_tokens ?? 0) + cached + cacheWrite,
      cached,
      cache_write: cacheWrite,
      output: usage?.output_tokens ?? 0,
    },
    carry: carriedOrder(order),
  })
}

const startSchema = v.object({ type: v.literal('message_start'), message: v.looseObject({}) })
const blockSchema = v.object({
  type: v.literal('content_block_start'),
  index: v.number(),
  content_block: v.looseObject({}),
})
const deltaSchema = v.object({ type: v.literal('content_block_delta'), index: v.number(), delta: v.looseObject({}) })
const endSchema = v.object({
  type: v.literal('message_delta'),
  delta: v.looseObject({}),
  usage: v.nullish(v.record(v.string(), v.unknown()), {}),
})

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A message out of the events of its stream; null when they begin with none, the event of an error as it is. */
function assembleMessages(events: readonly unknown[]): unknown {
  const failed = events.find((event) => isRecord(event) && event.type === 'error')
  if (failed) return failed
  const start = events.map((event) => v.safeParse(startSchema, event)).find((parsed) => parsed.success)
  if (!start) return null
  const message: Record<string, unknown> = { ...start.output.message }
  const blocks = new Map<number, Record<string, unknown>>()
  const inputs = new Map<number, string>()
  for (const event of events) {
    const opened = v.safeParse(blockSchema, event)
    if (opened.success) blocks.set(opened.output.index, { ...opened.output.content_block })
    const delta = v.safeParse(deltaSchema, event)
    if (delta.success) appendDelta(blocks.get(delta.output.index), delta.output.delta, inputs, delta.output.index)
    const end = v.safeParse(endSchema, event)
    if (end.success) {
      Object.assign(message, end.output.delta)
      message.usage = { ...(isRecord(message.usage) ? message.usage : {}), ...end.output.usage }
    }
  }
  for (const [index, json] of inputs) Object.assign(blocks.get(index) ?? {}, { input: parsed(json) })
  return { ...message, content: [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block) }
}

function appendDelta(
  block: Record<string, unknown> | undefined,
  delta: Record<string, unknown>,
  inputs: Map<number, string>,
  index: number,
): void {
  if (!block) return
  if (delta.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + text(delta.partial_json))
  for (const key of ['text', 'thinking', 'signature'])
    if (typeof delta[key] === 'string') block[key] = text(block[key]) + delta[key]
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json || '{}')
  } catch {
    return { invalid_arguments: json }
  }
}
