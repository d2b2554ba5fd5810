import { randomUUID } from 'node:crypto'
import { type ChatMessage, chatCompletion, chatError, readChatRequest } from '../chat-completions.ts'
import type { Question, Reply } from './conversation.ts'

/** Estimates tokens by the usual rule of thumb: four characters make one token. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value ?? '').length / 4)

/** An interface of the scripted model. It reads requests and writes answers. */
interface Dialect {
  /** True if requests to this path use this interface. */
  matches(path: string): boolean
  read(body: Loose): Question
  answer(question: Question, reply: Reply, model: string): object
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
const used = ({ messages, tools }: Question, { text, calls }: Reply) => ({
  input: tokens(messages) + tokens(tools),
  output: tokens(text ?? calls),
})
const call = (id: string, name: string, args: unknown) => ({ id, name, arguments: JSON.stringify(args ?? {}) })
const message = (role: ChatMessage['role'], text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  ...{ role, text, answers: null, calls: [] },
  ...more,
})

const chat: Dialect = {
  matches: (path) => path === '/v1/chat/completions',
  read: (body) => {
    const request = readChatRequest(body)
    if (request.stream) throw new RangeError('stream: only whole answers are served here')
    return request
  },
  answer: (question, reply, model) =>
    chatCompletion({
      id: `chatcmpl-${randomUUID()}`,
      model,
      text: reply.text ?? '',
      calls: (reply.calls ?? []).map(({ name, args }) => call(newId('call'), name, args)),
      usage: used(question, reply),
    }),
  error: (_status, message) => chatError(message),
}

const textOf = (content: Block['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')

const anthropic: Dialect = {
  matches: (path) => path === '/anthropic/v1/messages',
  read: (body) => {
    const turns = body.messages as { role: 'user' | 'assistant'; content: string | Block[] }[]
    if (!Array.isArray(turns) || turns.length === 0) throw new RangeError('messages: at least one message is required')
    if (typeof body.max_tokens !== 'number') throw new RangeError('max_tokens: Field required')
    return {
      messages: [
        message('system', textOf(body.system as Block['content'])),
        ...turns.flatMap(({ role, content }) => fromBlocks(role, content)),
      ],
      tools: (body.tools as { name: string }[] | undefined) ?? [],
    }
  },
  answer: (question, reply, model) => {
    const { input, output } = used(question, reply)
    const calls =
      reply.calls?.map(({ name, args }) => ({ type: 'tool_use', id: newId('toolu'), name, input: args })) ?? []
    return {
      id: newId('msg'),
      type: 'message',
      role: 'assistant',
      model,
      content: [...(reply.text ? [{ type: 'text', text: reply.text }] : []), ...calls],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: output },
    }
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

const gemini: Dialect = {
  matches: (path) => /^\/gemini\/v1beta\/models\/[^/]+:generateContent$/.test(path),
  read: (body) => {
    const contents = body.contents as { role?: string; parts?: Part[] }[]
    if (!Array.isArray(contents) || contents.length === 0) throw new RangeError('contents is not specified')
    const { parts: rules = [] } = (body.systemInstruction as { parts?: Part[] } | undefined) ?? {}
    const declared = (body.tools as { functionDeclarations?: { name: string }[] }[] | undefined) ?? []
    return {
      messages: [
        message('system', rules.map(({ text }) => text ?? '').join('\n')),
        ...contents.flatMap(({ role, parts = [] }) => fromParts(role === 'model' ? 'assistant' : 'user', parts)),
      ],
      tools: declared.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    }
  },
  answer: (question, reply, model) => {
    const { input, output } = used(question, reply)
    const calls = reply.calls?.map(({ name, args }) => ({ functionCall: { id: newId('fc'), name, args } })) ?? []
    const parts = [...(reply.text ? [{ text: reply.text }] : []), ...calls]
    return {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
      modelVersion: model,
    }
  },
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
