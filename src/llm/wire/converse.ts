import * as v from 'valibot'
import { isJsonObject } from '../../base/json.ts'
import { thinkingFields } from './anthropic.ts'
import {
  type AnswerBlock,
  type Block,
  type BlockWriter,
  completionOfBlocks,
  FINISH_REASONS,
  toTurns,
  turnsToCache,
} from './blocks.ts'
import { createConverseAssembler } from './converse-stream.ts'
import { EVENT_STREAM } from './event-frames.ts'
import { type ChatRequest, capOf, EMPTY_PARAMETERS, type Wire } from './wire.ts'

/** Models whose provider caches the prompt up to a mark in it. */
const CACHING = /anthropic\.claude-(3-7|(opus|sonnet|haiku|fable|mythos)-)/
const CACHE_POINT = { cachePoint: { type: 'default' } }

/** The Converse API of Amazon Bedrock, which has one form for all families of models. */
export const converseWire: Wire = {
  name: 'converse',
  encode: (request) => ({
    path: `/model/${encodeURIComponent(request.model)}/converse${request.stream ? '-stream' : ''}`,
    body: converseBody(request),
    ...(request.stream && { headers: { accept: EVENT_STREAM } }),
  }),
  decode,
  hasStreamAddress: true,
  assembler: createConverseAssembler,
}

function converseBody(request: ChatRequest): object {
  const system: Block[] = request.messages.flatMap((message) =>
    message.role === 'system' ? [{ text: message.content }] : [],
  )
  const turns = toTurns(request.messages, WRITER)
  if (CACHING.test(request.model)) {
    if (system.length > 0) system.push(CACHE_POINT)
    for (const { content } of turnsToCache(turns, request.tools?.length ?? 0)) content.push(CACHE_POINT)
  }
  const tools = (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    toolSpec: { name, ...(description && { description }), inputSchema: { json: parameters ?? EMPTY_PARAMETERS } },
  }))
  const thinking = thinkingFields(request.model, request.reasoning_effort)
  return {
    ...(system.length > 0 && { system }),
    messages: turns,
    inferenceConfig: { maxTokens: capOf(request), temperature: request.temperature },
    ...(tools.length > 0 && { toolConfig: { tools, toolChoice: { auto: {} } } }),
    ...(Object.keys(thinking).length > 0 && { additionalModelRequestFields: thinking }),
  }
}

const WRITER: BlockWriter = {
  text: (text) => ({ text }),
  call: ({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } }),
  result: (callId, content) => ({ toolResult: { toolUseId: callId, content: [{ text: content || ' ' }] } }),
  thought: (reasoningContent) => ({ reasoningContent }),
}

const count = v.nullish(v.number(), 0)
const answerSchema = v.object({
  output: v.object({ message: v.object({ content: v.array(v.looseObject({})) }) }),
  stopReason: v.nullish(v.string(), ''),
  usage: v.nullish(
    v.object({ inputTokens: count, outputTokens: count, cacheReadInputTokens: count, cacheWriteInputTokens: count }),
    {},
  ),
})
const toolUse = v.object({ toolUseId: v.nullish(v.string(), ''), name: v.string(), input: v.nullish(v.unknown(), {}) })

/** Stop reasons for unparsable model output; another attempt may succeed. */
const MALFORMED = ['malformed_model_output', 'malformed_tool_use']

function decode(answer: unknown): unknown {
  const parsed = v.safeParse(answerSchema, answer)
  if (!parsed.success) return answer
  const { output, stopReason, usage } = parsed.output
  if (MALFORMED.includes(stopReason))
    return { error: { message: `the model answered in no readable form (${stopReason})`, code: 502 } }
  return completionOfBlocks({
    blocks: output.message.content.flatMap(toAnswerBlock),
    stopReason,
    finishReasons: { ...FINISH_REASONS, guardrail_intervened: 'content_filter', content_filtered: 'content_filter' },
    usage: {
      input: usage.inputTokens,
      cached: usage.cacheReadInputTokens,
      cache_write: usage.cacheWriteInputTokens,
      output: usage.outputTokens,
    },
  })
}

function toAnswerBlock(block: Block): AnswerBlock[] {
  const call = v.safeParse(toolUse, block.toolUse)
  if (call.success) {
    const { toolUseId, name, input } = call.output
    return [{ kind: 'call', id: toolUseId, name, input }]
  }
  if (typeof block.text === 'string') return [{ kind: 'text', text: block.text }]
  return isJsonObject(block.reasoningContent) ? [{ kind: 'thought', thought: block.reasoningContent }] : []
}
