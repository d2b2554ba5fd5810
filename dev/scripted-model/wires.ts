import { randomUUID } from 'node:crypto'
import { chatCompletion, chatError } from '../chat-completions.ts'
import type { ChatRequest, Reply, WireMessage } from './conversation.ts'

/** Estimates tokens by the usual rule of thumb: four characters make one token. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value ?? '').length / 4)

/** An interface of the scripted model. It reads requests and writes answers. */
interface Dialect {
  /** True if requests to this path use this interface. */
  matches(path: string): boolean
  read(body: Loose): ChatRequest
  answer(request: ChatRequest, reply: Reply, model: string): object
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
const used = (request: ChatRequest, { text, calls }: Reply) => ({
  input: tokens(request.messages) + tokens(request.tools),
  output: tokens(text ?? calls),
})
const call = (id: string, name: string, args: unknown) => ({
  id,
  function: { name, arguments: JSON.stringify(args ?? {}) },
})
const requestOf = (system: string, messages: WireMessage[], tools: readonly { name: string }[]): ChatRequest => ({
  messages: [...(system ? [{ role: 'system', content: system }] : []), ...messages],
  ...(tools.length > 0 && { tools: tools.map(({ name }) => ({ function: { name } })) }),
})

const chat: Dialect = {
  matches: (path) => path === '/v1/chat/completions',
  read: (body) => {
    if (!Array.isArray(body.messages) || body.messages.length === 0)
      throw new RangeError('messages: a non-empty list is required')
    if (body.stream) throw new RangeError('stream: only whole answers are served here')
    return { messages: body.messages as WireMessage[], ...(Array.isArray(body.tools) && { tools: body.tools }) }
  },
  answer: (request, reply, model) =>
    chatCompletion({
      id: `chatcmpl-${randomUUID()}`,
      model,
      text: reply.text ?? '',
      calls: (reply.calls ?? []).map(({ name, args }) => ({
        id: newId('call'),
        name,
        arguments: JSON.stringify(args),
      })),
      usage: used(request, reply),
    }),
  error: (_status, message) => chatError(message),
}

const textOf = (content: Block['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')

const anthropic: Dialect = {
  matches: (path) => path === '/anthropic/v1/messages',
  read: (body) => {
    const turns = body.messages as { role: string; content: string | Block[] }[]
    if (!Array.isArray(turns) || turns.length === 0) throw new RangeError('messages: at least one message is required')
    if (typeof body.max_tokens !== 'number') throw new RangeError('max_tokens: Field required')
    const system = textOf(body.system as Block['content'])
    const messages = turns.flatMap(({ role, content }) => fromBlocks(role, content))
    return requestOf(system, messages, (body.tools as { name: string }[] | undefined) ?? [])
  },
  answer: (request, reply, model) => {
    const { input, output } = used(request, reply)
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

function fromBlocks(role: string, content: string | Block[]): WireMessage[] {
  if (typeof content === 'string') return [{ role, content }]
  const results = content.filter(({ type }) => type === 'tool_result')
  const calls = content
    .filter(({ type }) => type === 'tool_use')
    .map(({ id = '', name = '', input }) => call(id, name, input))
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('')
  return [
    ...results.map(
      (block): WireMessage => ({ role: 'tool', tool_call_id: block.tool_use_id, content: textOf(block.content) }),
    ),
    ...said(role, text, calls),
  ]
}

/** Makes one message of the text and calls of a turn; none if it has neither. */
const said = (role: string, text: string, calls: NonNullable<WireMessage['tool_calls']>): WireMessage[] =>
  text || calls.length > 0 ? [{ role, content: text || null, ...(calls.length > 0 && { tool_calls: calls }) }] : []

const gemini: Dialect = {
  matches: (path) => /^\/gemini\/v1beta\/models\/[^/]+:generateContent$/.test(path),
  read: (body) => {
    const contents = body.contents as { role?: string; parts?: Part[] }[]
    if (!Array.isArray(contents) || contents.length === 0) throw new RangeError('contents is not specified')
    const { parts: rules = [] } = (body.systemInstruction as { parts?: Part[] } | undefined) ?? {}
    const declared = (body.tools as { functionDeclarations?: { name: string }[] }[] | undefined) ?? []
    return requestOf(
      rules.map(({ text }) => text ?? '').join('\n'),
      contents.flatMap(({ role, parts = [] }) => fromParts(role === 'model' ? 'assistant' : 'user', parts)),
      declared.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    )
  },
  answer: (request, reply, model) => {
    const { input, output } = used(request, reply)
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

function fromParts(role: string, parts: Part[]): WireMessage[] {
  const results = parts.flatMap(({ functionResponse: result }): WireMessage[] =>
    result ? [{ role: 'tool', tool_call_id: result.id ?? result.name, content: result.response?.result ?? '' }] : [],
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
