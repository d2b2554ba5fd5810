import { randomUUID } from 'node:crypto'
import {
  type ChatAnswer,
  type ChatMessage,
  chatCompletion,
  chatError,
  chatEvent,
  chatStreamEnd,
  readChatRequest,
  sseData,
} from '../chat-completions.ts'
import type { Usage } from './clock.ts'
import type { Question, Reply } from './conversation.ts'

/** An answer of the scripted model, under the name that it gives itself. */
export interface Answer {
  reply: Reply
  usage: Usage
  model: string
}

/** An interface of the scripted model. It reads requests and writes answers. */
interface Dialect {
  /** True if requests to this path use this interface. */
  matches(path: string): boolean
  read(body: Loose, path: string): Question
  answer(answer: Answer): object
  /** Renders the answer as the events of a stream, in order. */
  events(answer: Answer): string[]
  error(status: number, message: string): object
}

type Loose = Record<string, unknown>
interface Block {
  type?: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  tool_use_id?: string
  content?: string | { text?: string }[]
}
interface Part {
  text?: string
  functionCall?: { id?: string; name: string; args?: unknown }
  functionResponse?: { id?: string; name: string; response?: { result?: string } }
}

const newId = (prefix: string) => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`
/** Cuts a text into pieces of the length in which streams bring it, about four tokens. */
const piecesOf = (text: string): string[] => text.match(/.{1,16}/gsu) ?? []
const call = (id: string, name: string, args: unknown) => ({ id, name, arguments: JSON.stringify(args ?? {}) })
const message = (role: ChatMessage['role'], text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  ...{ role, text, answers: null, calls: [] },
  ...more,
})

const chatAnswer = ({ reply, usage, model }: Answer): ChatAnswer => ({
  id: `chatcmpl-${randomUUID()}`,
  model,
  text: reply.text ?? '',
  calls: (reply.calls ?? []).map(({ name, args }) => call(newId('call'), name, args)),
  usage,
})

const chat: Dialect = {
  matches: (path) => path === '/v1/chat/completions',
  read: (body) => readChatRequest(body),
  answer: (answer) => chatCompletion(chatAnswer(answer)),
  events: (answer) => {
    const whole = chatAnswer(answer)
    const calls = whole.calls.flatMap(({ id, name, arguments: args }, index) => [
      { index, id, type: 'function', function: { name, arguments: '' } },
      ...piecesOf(args).map((piece) => ({ index, function: { arguments: piece } })),
    ])
    return [
      chatEvent(whole, { role: 'assistant', content: calls.length > 0 ? null : '' }),
      ...piecesOf(whole.text).map((content) => chatEvent(whole, { content })),
      ...calls.map((piece) => chatEvent(whole, { tool_calls: [piece] })),
      chatStreamEnd(whole),
    ]
  },
  error: (_status, message) => chatError(message),
}

const textOf = (content: Block['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')

const anthropicBlocks = ({ reply }: Answer) => [
  ...(reply.text ? [{ type: 'text' as const, text: reply.text }] : []),
  ...(reply.calls ?? []).map(({ name, args }) => ({
    type: 'tool_use' as const,
    id: newId('toolu'),
    name,
    input: args,
  })),
]
const anthropicStop = ({ reply }: Answer) => (reply.calls?.length ? 'tool_use' : 'end_turn')
const anthropicHead = ({ model }: Answer) => ({
  ...{ id: newId('msg'), type: 'message', role: 'assistant', model, stop_sequence: null },
})
/** Its input counts only the tokens that are not from the cache. */
const anthropicUsage = ({ usage: { input, cached, output } }: Answer) => ({
  input_tokens: input - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
})

const anthropic: Dialect = {
  matches: (path) => path === '/anthropic/v1/messages',
  read: (body) => {
    const turns = body.messages as { role: 'user' | 'assistant'; content: string | Block[] }[]
    if (!Array.isArray(turns) || turns.length === 0) throw new RangeError('messages: at least one message is required')
    if (typeof body.max_tokens !== 'number') throw new RangeError('max_tokens: Field required')
    return {
      model: String(body.model),
      stream: body.stream === true,
      messages: [
        message('system', textOf(body.system as Block['content'])),
        ...turns.flatMap(({ role, content }) => fromBlocks(role, content)),
      ],
      tools: (body.tools as { name: string }[] | undefined) ?? [],
    }
  },
  answer: (answer) => {
    const blocks = anthropicBlocks(answer)
    const stop_reason = anthropicStop(answer)
    return { ...anthropicHead(answer), content: blocks, stop_reason, usage: anthropicUsage(answer) }
  },
  events: (answer) => {
    const usage = anthropicUsage(answer)
    const blocks = anthropicBlocks(answer).flatMap((block, index) => {
      const isText = block.type === 'text'
      const empty = isText ? { ...block, text: '' } : { ...block, input: {} }
      const pieces = piecesOf(isText ? block.text : JSON.stringify(block.input))
      return [
        { type: 'content_block_start', index, content_block: empty },
        ...pieces.map((piece) => ({
          type: 'content_block_delta',
          index,
          delta: isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece },
        })),
        { type: 'content_block_stop', index },
      ]
    })
    const delta = { stop_reason: anthropicStop(answer), stop_sequence: null }
    const opening = { ...anthropicHead(answer), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
    return [
      { type: 'message_start', message: opening },
      ...blocks,
      { type: 'message_delta', delta, usage: { output_tokens: usage.output_tokens } },
      { type: 'message_stop' },
    ].map((event) => `event: ${event.type}\n${sseData(event)}`)
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error', message },
  }),
}

function fromBlocks(role: 'user' | 'assistant', content: string | Block[]): ChatMessage[] {
  if (typeof content === 'string') return [message(role, content)]
  const of = (kind: string) => content.filter(({ type }) => type === kind)
  const calls = of('tool_use').map(({ id = '', name = '', input }) => call(id, name, input))
  return [
    ...of('tool_result').map((block) => message('tool', textOf(block.content), { answers: block.tool_use_id ?? null })),
    ...said(role, textOf(of('text')), calls),
  ]
}

/** Makes one message of the text and calls of a turn; none if it has neither. */
const said = (role: 'user' | 'assistant', text: string, calls: ChatMessage['calls']): ChatMessage[] =>
  text || calls.length > 0 ? [message(role, text, { calls })] : []

const GEMINI_PATH = /^\/gemini\/v1beta\/models\/([^/]+):(generateContent|streamGenerateContent)$/

const geminiParts = ({ reply: { text, calls = [] } }: Answer): Part[] => [
  ...(text || calls.length === 0 ? [{ text: text ?? '' }] : []),
  ...calls.map(({ name, args }) => ({ functionCall: { id: newId('fc'), name, args } })),
]
const geminiAnswer = ({ usage: { input, cached, output }, model }: Answer, parts: Part[], finishReason?: 'STOP') => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
  },
  modelVersion: model,
})

const gemini: Dialect = {
  matches: (path) => GEMINI_PATH.test(path),
  read: (body, path) => {
    const [, model = '', method] = GEMINI_PATH.exec(path) ?? []
    const contents = body.contents as { role?: string; parts?: Part[] }[]
    if (!Array.isArray(contents) || contents.length === 0) throw new RangeError('contents is not specified')
    const { parts: rules = [] } = (body.systemInstruction as { parts?: Part[] } | undefined) ?? {}
    const declared = (body.tools as { functionDeclarations?: { name: string }[] }[] | undefined) ?? []
    return {
      model: decodeURIComponent(model),
      stream: method === 'streamGenerateContent',
      messages: [
        message('system', rules.map(({ text }) => text ?? '').join('\n')),
        ...contents.flatMap(({ role, parts = [] }) => fromParts(role === 'model' ? 'assistant' : 'user', parts)),
      ],
      tools: declared.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    }
  },
  answer: (answer) => geminiAnswer(answer, geminiParts(answer), 'STOP'),
  events: (answer) =>
    geminiParts(answer).flatMap((part, index, { length }) => {
      const pieces: Part[] = part.text === undefined ? [part] : piecesOf(part.text).map((text) => ({ text }))
      const isLast = (at: number) => index === length - 1 && at === pieces.length - 1
      return pieces.map((piece, at) => sseData(geminiAnswer(answer, [piece], isLast(at) ? 'STOP' : undefined)))
    }),
  error: (code, message) => ({ error: { code, message, status: code === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT' } }),
}

function fromParts(role: 'user' | 'assistant', parts: Part[]): ChatMessage[] {
  const results = parts.flatMap(({ functionResponse: result }) =>
    result ? [message('tool', result.response?.result ?? '', { answers: result.id ?? result.name })] : [],
  )
  const calls = parts.flatMap(({ functionCall: each }) =>
    each ? [call(each.id ?? each.name, each.name, each.args)] : [],
  )
  const text = parts.map((part) => part.text ?? '').join('')
  return [...results, ...said(role, text, calls)]
}

const DIALECTS: readonly Dialect[] = [chat, anthropic, gemini]

/** Finds the interface of a path. */
export const dialectOf = (path: string): Dialect | undefined => DIALECTS.find((dialect) => dialect.matches(path))
export const usualDialect = chat
