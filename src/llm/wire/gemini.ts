import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { toCompletion } from './chat.ts'
import {
  type Assembler,
  type AssistantMessage,
  argumentsObject,
  type ChatRequest,
  capOf,
  EMPTY_PARAMETERS,
  type StreamSink,
  type Wire,
} from './wire.ts'

type Part = Record<string, unknown>
interface Content {
  role: 'user' | 'model'
  parts: Part[]
}

/** The documented signature for calls of other models. Models from version 3 on refuse a call without one. */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator'

/**
 * The form of `generateContent`. Its roles are `user` and `model`, calls and results are parts of a turn, and each call
 * may carry the signature of the thoughts before it.
 */
export const geminiWire: Wire = {
  name: 'gemini',
  encode: (request) => ({
    path: `/models/${encodeURIComponent(request.model)}:${request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: generateBody(request),
  }),
  decode,
  hasStreamAddress: true,
  assembler: createAnswerAssembler,
}

function generateBody(request: ChatRequest): object {
  const system = request.messages.flatMap((message) => (message.role === 'system' ? [{ text: message.content }] : []))
  const functionDeclarations = request.tools?.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    parametersJsonSchema: parameters ?? EMPTY_PARAMETERS,
  }))
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents: contentsOf(request),
    ...(functionDeclarations?.length && {
      tools: [{ functionDeclarations }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    }),
    ...(request.web_search_options && { tools: [{ google_search: {} }] }),
    generationConfig: {
      maxOutputTokens: capOf(request),
      temperature: request.temperature,
      thinkingConfig: request.reasoning_effort && thinkingOf(request.model, request.reasoning_effort),
    },
  }
}

/** Returns the amount of thinking: a level since version 3, a token budget before. */
const thinkingOf = (model: string, effort: string): object =>
  /gemini-(1|2)[.-]/.test(model) ? { thinkingBudget: 1024 } : { thinkingLevel: effort }

function contentsOf({ messages, model }: ChatRequest): Content[] {
  const contents: Content[] = []
  const names = new Map(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.tool_calls ?? []).map((call) => [call.id, call.function.name] as const)
        : [],
    ),
  )
  const add = (role: Content['role'], parts: Part[]) => {
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else if (parts.length > 0) contents.push({ role, parts })
  }
  for (const message of messages) {
    if (message.role === 'user') add('user', [{ text: message.content }])
    else if (message.role === 'assistant') add('model', assistantParts(message, /gemini-[3-9]/.test(model)))
    else if (message.role === 'tool') {
      const name = names.get(message.tool_call_id) ?? 'unknown'
      add('user', [{ functionResponse: { id: message.tool_call_id, name, response: { result: message.content } } }])
    }
  }
  return contents
}

const carrySchema = v.record(v.string(), v.string())

function assistantParts(message: AssistantMessage, signed: boolean): Part[] {
  const carried = v.safeParse(carrySchema, message.carry)
  const signatures = carried.success ? carried.output : {}
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }, index) => {
    const signature = signatures[id] ?? (signed && index === 0 && !carried.success ? FOREIGN_SIGNATURE : undefined)
    return {
      functionCall: { id, name, args: argumentsObject(text) },
      ...(signature && { thoughtSignature: signature }),
    }
  })
  return [...(message.content ? [{ text: message.content }] : []), ...calls]
}

const count = v.nullish(v.number(), 0)
const partSchema = v.object({
  text: v.nullish(v.string(), ''),
  thought: v.nullish(v.boolean(), false),
  thoughtSignature: v.nullish(v.string(), ''),
  functionCall: v.nullish(
    v.object({ id: v.nullish(v.string(), ''), name: v.string(), args: v.nullish(v.unknown(), {}) }),
  ),
})
const answerSchema = v.object({
  candidates: v.nullish(
    v.array(
      v.object({
        content: v.nullish(v.object({ parts: v.nullish(v.array(partSchema), []) }), { parts: [] }),
        finishReason: v.nullish(v.string(), ''),
      }),
    ),
    [],
  ),
  promptFeedback: v.nullish(v.object({ blockReason: v.nullish(v.string(), '') })),
  usageMetadata: v.nullish(
    v.object({
      promptTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      toolUsePromptTokenCount: count,
      cachedContentTokenCount: count,
    }),
  ),
})

const FILTERED = ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE', 'IMAGE_SAFETY']
/** Finish reasons for answers in an unusable form; another attempt may succeed. */
const MALFORMED = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
]

function decode(answer: unknown): unknown {
  const parsed = v.safeParse(answerSchema, answer)
  if (!parsed.success || !isJsonObject(answer) || isJsonObject(answer.error)) return answer
  const { candidates, promptFeedback, usageMetadata: used } = parsed.output
  const candidate = candidates?.[0]
  if (!candidate && !promptFeedback?.blockReason) return answer
  const raw = candidate?.finishReason ?? ''
  if (MALFORMED.includes(raw))
    return { error: { message: `the model answered in no readable form (${raw})`, code: 502 } }
  const parts = candidate?.content.parts ?? []
  const calls = parts.flatMap(({ functionCall: call, thoughtSignature: signature }) =>
    call ? [{ ...call, id: call.id || createCallId(), signature }] : [],
  )
  const signatures = Object.fromEntries(calls.flatMap(({ id, signature }) => (signature ? [[id, signature]] : [])))
  return toCompletion({
    text: parts.map((part) => (part.thought ? '' : part.text)).join(''),
    calls: calls.map(({ id, name, args }) => ({ id, function: { name, arguments: JSON.stringify(args) } })),
    finish_reason: candidate ? finishOf(raw, calls.length > 0) : 'content_filter',
    usage: {
      // The prompt tokens of the provider's own tools, such as the search, are counted separately and charged too.
      input: (used?.promptTokenCount ?? 0) + (used?.toolUsePromptTokenCount ?? 0),
      cached: used?.cachedContentTokenCount ?? 0,
      cache_write: 0,
      output: (used?.candidatesTokenCount ?? 0) + (used?.thoughtsTokenCount ?? 0),
    },
    carry: calls.length > 0 ? signatures : undefined,
  })
}

/** Returns an id for a call of an older model, which has none. Results refer to their call by it. */
const createCallId = () => `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`

function finishOf(raw: string, called: boolean): string {
  if (raw === 'STOP') return called ? 'tool_calls' : 'stop'
  if (raw === 'MAX_TOKENS') return 'length'
  return FILTERED.includes(raw) ? 'content_filter' : raw
}

/** Each event is an answer with some further parts. An error event is the answer itself. */
function createAnswerAssembler(sink: StreamSink): Assembler {
  let failed: JsonObject | null = null
  let isOurs = false
  const parts: v.InferOutput<typeof partSchema>[] = []
  let finishReason = ''
  let usageMetadata: v.InferOutput<typeof answerSchema>['usageMetadata']
  let promptFeedback: v.InferOutput<typeof answerSchema>['promptFeedback']
  return {
    add: (event) => {
      if (failed || !isJsonObject(event)) return
      if (isJsonObject(event.error)) failed = event
      const parsed = v.safeParse(answerSchema, event)
      if (failed || !parsed.success) return
      isOurs = true
      const candidate = parsed.output.candidates?.[0]
      for (const part of candidate?.content.parts ?? []) {
        parts.push(part)
        const { functionCall: call } = part
        sink.text(call ? call.name + JSON.stringify(call.args) : part.text)
        if (call) sink.call({ name: call.name, arguments: JSON.stringify(call.args) })
      }
      finishReason = candidate?.finishReason || finishReason
      usageMetadata = parsed.output.usageMetadata ?? usageMetadata
      if (parsed.output.promptFeedback?.blockReason) promptFeedback ??= parsed.output.promptFeedback
    },
    answer: () => {
      if (failed || !isOurs) return failed
      return { candidates: promptFeedback ? [] : [{ content: { parts }, finishReason }], promptFeedback, usageMetadata }
    },
    isEnded: () => failed !== null || finishReason !== '' || promptFeedback !== undefined,
  }
}
