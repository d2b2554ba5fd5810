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
import {
  type Assembler,
  type ChatRequest,
  capOf,
  EMPTY_PARAMETERS,
  type StreamSink,
  type Wire,
  type WireRequest,
} from './wire.ts'

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
 * @param form the path of a request, and its body and headers besides the conversation
 */
export const anthropicWire = (form: (request: Pick<ChatRequest, 'model' | 'stream'>) => WireRequest): Wire => ({
  name: 'anthropic',
  encode: (request) => {
    const { path, body, headers } = form(request)
    return { path, headers, body: { ...body, ...messagesBody(request) } }
  },
  decode,
  assembler: createMessageAssembler,
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
export const messagesWire = anthropicWire(({ model }) => ({
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
    stream: request.stream,
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

/** An answer begins with `message_start`. An error event is the answer itself. */
function createMessageAssembler(sink: StreamSink): Assembler {
  let failed: JsonObject | null = null
  let message: JsonObject | null = null
  let isEnded = false
  const blocks = new Map<Json | undefined, JsonObject>()
  const inputs = new Map<JsonObject, string>()
  return {
    add: (event) => {
      if (failed || !isJsonObject(event)) return
      const { type, index, content_block, delta, usage } = event
      const block = blocks.get(index)
      if (type === 'error') failed = event
      else if (type === 'message_start' && isJsonObject(event.message)) message ??= { ...event.message }
      else if (type === 'content_block_start' && isJsonObject(content_block)) {
        blocks.set(index, { ...content_block })
        sink.text(textOf(content_block.name))
      } else if (type === 'content_block_delta' && isJsonObject(delta) && block) {
        sink.text(textOf(delta.text) + textOf(delta.thinking) + textOf(delta.partial_json))
        appendDelta(block, delta, inputs)
      } else if (type === 'content_block_stop' && block) {
        readInput(block, inputs)
        if (block.type === 'tool_use')
          sink.call({ name: textOf(block.name), arguments: JSON.stringify(block.input ?? {}) })
      } else if (type === 'message_delta' && isJsonObject(delta) && message) {
        Object.assign(message, delta, { usage: { ...objectOf(message.usage), ...objectOf(usage) } })
        isEnded ||= textOf(delta.stop_reason) !== ''
      } else if (type === 'message_stop') isEnded = true
    },
    answer: () => {
      if (failed || !message) return failed
      for (const block of blocks.values()) readInput(block, inputs)
      const sorted = [...blocks].sort(([a], [b]) => Number(a) - Number(b))
      return { ...message, content: sorted.map(([, block]) => block) }
    },
    isEnded: () => failed !== null || isEnded,
  }
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Adds a delta to its block. Arguments of a call come as pieces of JSON, which are collected in `inputs`. */
function appendDelta(block: JsonObject, delta: JsonObject, inputs: Map<JsonObject, string>): void {
  if (delta.type === 'input_json_delta') inputs.set(block, (inputs.get(block) ?? '') + textOf(delta.partial_json))
  for (const key of ['text', 'thinking', 'signature'])
    if (typeof delta[key] === 'string') block[key] = textOf(block[key]) + delta[key]
}

/** Reads the pieces of a call's arguments, if it had any. */
function readInput(block: JsonObject, inputs: ReadonlyMap<JsonObject, string>): void {
  const json = inputs.get(block)
  if (json !== undefined) block.input = parseJson(json || '{}') ?? { invalid_arguments: json }
}
