import * as v from 'valibot'
import { isJsonObject } from '../../base/json.ts'
import {
  type AnswerBlock,
  type Block,
  type BlockWriter,
  completionOfBlocks,
  FINISH_REASONS,
  toTurns,
} from './blocks.ts'
import { type ChatRequest, capOf, EMPTY_PARAMETERS, type Wire, type WireRequest } from './types.ts'

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
const CACHED = { cache_control: { type: 'ephemeral' } }
/** Models that decide themselves how much to think, and models that need a budget of tokens for it. */
const ADAPTIVE = /claude-(opus|sonnet|haiku)-(4-[6-9]|[5-9])|claude-(fable|mythos)/
const BUDGETED = /claude-(3-7|(opus|sonnet|haiku)-4)/
const THINKING_BUDGET = 1024

/**
 * The Messages API. It differs from chat completions in that the system text has a field of its own, results of tools
 * are part of the user's turns, and arguments are objects. Marks behind the system text and the last turn let the
 * provider cache the prompt up to there.
 * @param form the path of a request for a model, and what its body and headers hold besides the conversation
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

function messagesBody(request: ChatRequest): object {
  const system = request.messages
    .flatMap((message) => (message.role === 'system' ? [message.content] : []))
    .join('\n\n')
  const turns = toTurns(request.messages, WRITER)
  const last = turns.at(-1)?.content
  if (last && last.length > 0) last[last.length - 1] = { ...last.at(-1), ...CACHED }
  const tools: object[] = (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    input_schema: parameters ?? EMPTY_PARAMETERS,
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

/** The fields that ask a model to think: an effort, a budget of tokens, or nothing where the model cannot think. */
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
      input: usage?.input_tokens ?? 0,
      cached: usage?.cache_read_input_tokens ?? 0,
      cacheWrite: usage?.cache_creation_input_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
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

/**
 * Puts a message together from the events of its stream. Answers null when no event begins a message, and the event
 * itself when one reports an error.
 */
function assembleMessages(events: readonly unknown[]): unknown {
  const failed = events.find((event) => isJsonObject(event) && event.type === 'error')
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
      message.usage = { ...(isJsonObject(message.usage) ? message.usage : {}), ...end.output.usage }
    }
  }
  for (const [index, json] of inputs) Object.assign(blocks.get(index) ?? {}, { input: parseInput(json) })
  return { ...message, content: [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block) }
}

/** Adds a delta to its block. Arguments of a call come as pieces of JSON, which are collected in `inputs`. */
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

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json || '{}')
  } catch {
    return { invalid_arguments: json }
  }
}
