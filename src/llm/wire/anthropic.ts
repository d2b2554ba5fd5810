import * as v from 'valibot'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts'
import {
  type AnswerBlock,
  type Block,
  type BlockWriter,
  completionOfBlocks,
  FINISH_REASONS,
  toTurns,
  turnsToCache,
} from './blocks.ts'
import { type ChatRequest, capOf, EMPTY_PARAMETERS, type Wire, type WireRequest } from './wire.ts'

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
const CACHED = { cache_control: { type: 'ephemeral' } }
/** Models that choose their amount of thinking, and models that need a token budget for it. */
const ADAPTIVE = /claude-(opus|sonnet|haiku)-(4-[6-9]|[5-9])|claude-(fable|mythos)/
const BUDGETED = /claude-(3-7|(opus|sonnet|haiku)-4)/
const THINKING_BUDGET = 1024

/**
 * Makes the wire form of the Messages API. It differs from chat completions in that the system text has its own field,
 * results of tools are part of the user's turns, and arguments are objects. Marks after the system text and some turns
 * let the provider cache the prompt up to there.
 * @param form the path of a request for a model, and its body and headers besides the conversation
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
      !isJsonObject(answer) ||
      answer.stop_reason !== 'pause_turn' ||
      !('messages' in sent) ||
      !Array.isArray(sent.messages)
    )
      return null
    return { ...sent, messages: [...sent.messages, { role: 'assistant', content: answer.content }] }
  },
})

/** The Messages API with the path and the version header of its vendor. */
export const messagesWire = anthropicWire((model) => ({
  path: '/messages',
  body: { model },
  headers: { 'anthropic-version': '2023-06-01' },
}))

function messagesBody(request: ChatRequest): object {
  const system = request.messages
    .flatMap((message) => (message.role === 'system' ? [message.content] : []))
    .join('\n\n')
  const turns = toTurns(request.messages, WRITER)
  const tools: object[] = (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    input_schema: parameters ?? EMPTY_PARAMETERS,
  }))
  if (request.web_search_options) tools.push(SEARCH)
  for (const { content } of turnsToCache(turns, tools.length))
    if (content.length > 0) content[content.length - 1] = { ...content.at(-1), ...CACHED }
  return {
    max_tokens: capOf(request),
    system: system === '' ? undefined : [{ type: 'text', text: system, ...CACHED }],
    messages: turns,
    temperature: request.temperature,
    ...(tools.length > 0 && { tools, tool_choice: { type: 'auto' } }),
    ...thinkingFields(request.model, request.reasoning_effort),
  }
}

/** Returns the fields that request thinking: an effort, a token budget, or none if the model cannot think. */
export function thinkingFields(model: string, effort: string | undefined): object {
  if (effort === undefined) return {}
  if (ADAPTIVE.test(model)) return { thinking: { type: 'adaptive' }, output_config: { effort } }
  return BUDGETED.test(model) ? { thinking: { type: 'enabled', budget_tokens: THINKING_BUDGET } } : {}
}

const WRITER: BlockWriter = {
  text: (text) => ({ type: 'text', text }),
  call: ({ id, name, input }) => ({ type: 'tool_use', id, name, input }),
  result: (callId, content) => ({ type: 'tool_result', tool_use_id: callId, content }),
  thought: (thought) => (isJsonObject(thought) ? thought : {}),
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
    {},
  ),
})
const toolUse = v.object({ id: v.nullish(v.string(), ''), name: v.string(), input: v.nullish(v.unknown(), {}) })

function decode(answer: unknown): unknown {
  const parsed = v.safeParse(answerSchema, answer)
  if (!parsed.success) return answer
  const { content, stop_reason, usage } = parsed.output
  return completionOfBlocks({
    blocks: content.flatMap(toAnswerBlock),
    stopReason: stop_reason,
    finishReasons: { ...FINISH_REASONS, refusal: 'content_filter' },
    usage: {
      input: usage.input_tokens,
      cached: usage.cache_read_input_tokens,
      cache_write: usage.cache_creation_input_tokens,
      output: usage.output_tokens,
    },
  })
}

function toAnswerBlock(block: Block): AnswerBlock[] {
  if (block.type === 'tool_use') {
    const call = v.safeParse(toolUse, block)
    return call.success ? [{ kind: 'call', ...call.output }] : []
  }
  if (block.type === 'text' && typeof block.text === 'string') return [{ kind: 'text', text: block.text }]
  return block.type === 'thinking' || block.type === 'redacted_thinking' ? [{ kind: 'thought', thought: block }] : []
}

/** Assembles a message from its stream; null when no event begins one. An error event is returned itself. */
function assembleMessages(list: readonly unknown[]): unknown {
  const events = list.filter(isJsonObject)
  const failed = events.find(({ type }) => type === 'error')
  if (failed) return failed
  const start = events.find(({ type }) => type === 'message_start')
  if (!isJsonObject(start?.message)) return null
  const message: JsonObject = { ...start.message }
  const blocks = new Map<Json | undefined, JsonObject>()
  const inputs = new Map<JsonObject, string>()
  for (const { type, index, content_block, delta, usage } of events) {
    const block = blocks.get(index)
    if (type === 'content_block_start' && isJsonObject(content_block)) blocks.set(index, { ...content_block })
    if (type === 'content_block_delta' && isJsonObject(delta) && block) appendDelta(block, delta, inputs)
    if (type === 'message_delta' && isJsonObject(delta))
      Object.assign(message, delta, { usage: { ...objectOf(message.usage), ...objectOf(usage) } })
  }
  for (const [block, json] of inputs)
    Object.assign(block, { input: parseJson(json || '{}') ?? { invalid_arguments: json } })
  return { ...message, content: [...blocks].sort(([a], [b]) => Number(a) - Number(b)).map(([, block]) => block) }
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** Adds a delta to its block. Arguments of a call come as pieces of JSON, which are collected in `inputs`. */
function appendDelta(block: JsonObject, delta: JsonObject, inputs: Map<JsonObject, string>): void {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
  if (delta.type === 'input_json_delta') inputs.set(block, (inputs.get(block) ?? '') + text(delta.partial_json))
  for (const key of ['text', 'thinking', 'signature'])
    if (typeof delta[key] === 'string') block[key] = text(block[key]) + delta[key]
}
