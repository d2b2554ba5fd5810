/** Requests and answers in each provider's documented form, for tests that compare them. */
export interface Said {
  text?: string
  calls?: { id: string; name: string; args: Record<string, unknown> }[]
  /** The usual finish reason. By default it follows from the calls. */
  finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter'
}

/** The content of one message of a request, in any form. */
export interface Seen {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text?: string
  calls?: { id: string; name: string; args: unknown }[]
  /** Set for a tool message. */
  call_id?: string
}

export interface Form {
  answer(said: Said): object
  /** Returns the messages of a request in order. */
  messages(body: Body): Seen[]
  tools(body: Body): string[]
  cap(body: Body): unknown
}
export type FormName = 'chat' | 'anthropic' | 'gemini' | 'converse'
// biome-ignore lint/suspicious/noExplicitAny: bodies of four forms are taken apart field by field
export type Body = any

export const TOKENS = { input: 100, cached: 40, output: 10 }

const finishOf = ({ finish, calls }: Said) => finish ?? (calls?.length ? 'tool_calls' : 'stop')

const chat: Form = {
  answer: (said) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        finish_reason: finishOf(said),
        message: {
          role: 'assistant',
          content: said.text ?? null,
          ...(said.calls && {
            tool_calls: said.calls.map(({ id, name, args }) => ({
              id,
              type: 'function',
              function: { name, arguments: JSON.stringify(args) },
            })),
          }),
        },
      },
    ],
    usage: {
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
      prompt_tokens_details: { cached_tokens: TOKENS.cached },
    },
  }),
  messages: (body) =>
    body.messages.map((message: Body) => ({
      role: message.role,
      ...(message.content && { text: message.content }),
      ...(message.tool_calls && {
        calls: message.tool_calls.map((call: Body) => ({
          id: call.id,
          name: call.function.name,
          args: JSON.parse(call.function.arguments),
        })),
      }),
      ...(message.tool_call_id && { call_id: message.tool_call_id }),
    })),
  tools: (body) => (body.tools ?? []).map((tool: Body) => tool.function.name),
  cap: (body) => body.max_tokens ?? body.max_completion_tokens,
}

const ANTHROPIC_STOP = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'refusal' }

const anthropic: Form = {
  answer: (said) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [
      ...(said.text ? [{ type: 'text', text: said.text }] : []),
      ...(said.calls ?? []).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
    ],
    stop_reason: ANTHROPIC_STOP[finishOf(said)],
    stop_sequence: null,
    usage: {
      input_tokens: 50,
      cache_read_input_tokens: TOKENS.cached,
      cache_creation_input_tokens: 10,
      output_tokens: TOKENS.output,
    },
  }),
  messages: (body) => [
    ...(body.system ?? []).map((block: Body) => ({ role: 'system', text: block.text })),
    ...body.messages.flatMap((message: Body) => fromBlocks(message.role, message.content)),
  ],
  tools: (body) => (body.tools ?? []).map((tool: Body) => tool.name),
  cap: (body) => body.max_tokens,
}

function fromBlocks(role: 'user' | 'assistant', blocks: Body[]): Seen[] {
  const results = blocks.filter((block) => block.type === 'tool_result')
  const calls = blocks
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, args: input }))
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return [
    ...results.map((block): Seen => ({ role: 'tool', text: block.content, call_id: block.tool_use_id })),
    ...messageOf(role, text, calls),
  ]
}

/** Makes the message of a role, none if it is empty. */
const messageOf = (role: Seen['role'], text: string, calls: NonNullable<Seen['calls']>): Seen[] =>
  text || calls.length > 0 ? [{ role, ...(text && { text }), ...(calls.length > 0 && { calls }) }] : []

const GEMINI_FINISH = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' }

const gemini: Form = {
  answer: (said) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            ...(said.text ? [{ text: said.text }] : []),
            ...(said.calls ?? []).map(({ id, name, args }) => ({
              functionCall: { id, name, args },
              thoughtSignature: `signed ${id}`,
            })),
          ],
        },
        finishReason: GEMINI_FINISH[finishOf(said)],
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: TOKENS.input,
      cachedContentTokenCount: TOKENS.cached,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 3,
    },
  }),
  messages: (body) => [
    ...(body.systemInstruction?.parts ?? []).map((part: Body) => ({ role: 'system', text: part.text })),
    ...body.contents.flatMap((content: Body): Seen[] => {
      const responses = content.parts.filter((part: Body) => part.functionResponse)
      const calls = content.parts.filter((part: Body) => part.functionCall).map((part: Body) => part.functionCall)
      const text = content.parts.map((part: Body) => part.text ?? '').join('')
      return [
        ...responses.map((part: Body) => ({
          role: 'tool',
          text: part.functionResponse.response.result,
          call_id: part.functionResponse.id,
        })),
        ...messageOf(content.role === 'model' ? 'assistant' : 'user', text, calls),
      ]
    }),
  ],
  tools: (body) =>
    (body.tools ?? []).flatMap((tool: Body) => (tool.functionDeclarations ?? []).map((each: Body) => each.name)),
  cap: (body) => body.generationConfig.maxOutputTokens,
}

const CONVERSE_STOP = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'guardrail_intervened',
}

const converse: Form = {
  answer: (said) => ({
    output: {
      message: {
        role: 'assistant',
        content: [
          ...(said.text ? [{ text: said.text }] : []),
          ...(said.calls ?? []).map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } })),
        ],
      },
    },
    stopReason: CONVERSE_STOP[finishOf(said)],
    usage: {
      inputTokens: 50,
      outputTokens: TOKENS.output,
      totalTokens: 60,
      cacheReadInputTokens: TOKENS.cached,
      cacheWriteInputTokens: 10,
    },
    metrics: { latencyMs: 5 },
  }),
  messages: (body) => [
    ...(body.system ?? [])
      .filter((block: Body) => block.text)
      .map((block: Body) => ({ role: 'system', text: block.text })),
    ...body.messages.flatMap((message: Body): Seen[] => {
      const results = message.content.filter((block: Body) => block.toolResult).map((block: Body) => block.toolResult)
      const calls = message.content
        .filter((block: Body) => block.toolUse)
        .map(({ toolUse }: Body) => ({ id: toolUse.toolUseId, name: toolUse.name, args: toolUse.input }))
      const text = message.content.map((block: Body) => block.text ?? '').join('')
      return [
        ...results.map((result: Body) => ({ role: 'tool', text: result.content[0].text, call_id: result.toolUseId })),
        ...messageOf(message.role, text, calls),
      ]
    }),
  ],
  tools: (body) => (body.toolConfig?.tools ?? []).map((tool: Body) => tool.toolSpec.name),
  cap: (body) => body.inferenceConfig.maxTokens,
}

export const FORMS: Record<FormName, Form> = { chat, anthropic, gemini, converse }
