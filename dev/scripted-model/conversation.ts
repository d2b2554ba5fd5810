/** The part of a chat-completions request that the scripted model reads. */
export interface ChatRequest {
  messages: WireMessage[]
  tools?: { function: { name: string } }[]
}
export interface WireMessage {
  role: string
  content?: string | { text?: string }[] | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** The answer of the model. */
export interface Reply {
  text?: string
  calls?: { name: string; args: Record<string, unknown> }[]
}

export interface Step {
  name: string
  args: Record<string, unknown>
  result: string
}

/** The request in the form that the scripts read. Their decisions depend on nothing else. */
export interface Conversation {
  tools: ReadonlySet<string>
  system: string
  /** The present query of the chain, with the frames of its data blocks removed. */
  query: string
  /** The data blocks of the query, by label. */
  data: ReadonlyMap<string, string>
  /** The finished pairs of turns before the query. */
  history: { user: string; assistant: string }[]
  /** The tool calls of the chain since the present query, in order. */
  steps: Step[]
}

const textOf = (message: WireMessage): string =>
  typeof message.content === 'string'
    ? message.content
    : (message.content ?? []).map((part) => part.text ?? '').join('')

/**
 * Reads a request. The loop also sends notices as user messages, so the query of the current chain is the user message
 * before its first tool call. A continued chain has a new query: the user message after the last answer without a call
 * that follows the result of a tool.
 */
export function readConversation(request: ChatRequest): Conversation {
  const { messages } = request
  const calls = (message: WireMessage | undefined) => message?.role === 'assistant' && !!message.tool_calls?.length
  const ended = messages.findLastIndex(
    (message, at) => message.role === 'assistant' && !calls(message) && messages[at - 1]?.role === 'tool',
  )
  const firstCall = messages.findIndex((message, at) => at > ended && calls(message))
  const before = firstCall < 0 ? messages : messages.slice(0, firstCall)
  const queryAt = before.findLastIndex((message) => message.role === 'user')
  const query = queryAt < 0 ? '' : textOf(before[queryAt] as WireMessage)
  return {
    tools: new Set((request.tools ?? []).map((tool) => tool.function.name)),
    system: messages
      .filter((message) => message.role === 'system')
      .map(textOf)
      .join('\n'),
    query: unwrap(query),
    data: dataBlocks(query),
    history: readPairs(before.slice(0, Math.max(queryAt, 0))),
    steps: stepsOf(messages.slice(queryAt + 1)),
  }
}

/** Lists every query with the text of its answer, without the calls between them. */
function readPairs(messages: readonly WireMessage[]): { user: string; assistant: string }[] {
  const pairs: { user: string; assistant: string }[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'user') continue
    const next = messages.slice(index + 1).find(({ role, tool_calls }) => role !== 'tool' && !tool_calls?.length)
    if (next?.role === 'assistant') pairs.push({ user: unwrap(textOf(message)), assistant: textOf(next) })
  }
  return pairs
}

function stepsOf(messages: readonly WireMessage[]): Step[] {
  const results = new Map(
    messages.filter((message) => message.role === 'tool').map((message) => [message.tool_call_id, textOf(message)]),
  )
  return messages
    .flatMap((message) => message.tool_calls ?? [])
    .map((call) => ({
      name: call.function.name,
      args: parseArguments(call.function.arguments),
      result: unwrap(results.get(call.id) ?? ''),
    }))
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

const FENCE = /<<<DATA ([^\n]*?) ([0-9a-f]{16})\n([\s\S]*?)\n\2 DATA>>>/g

/** Labels of blocks that accompany a task and describe the repository. */
const BESIDE = new Set([
  'repository files',
  'relevant files',
  'blocks of the repository',
  'repository',
  'provider schema',
  'changes of this session',
  'branch diff',
])

/** Returns the content of the data blocks in a text. A text without any is returned unchanged. */
function unwrap(text: string): string {
  const blocks = [...text.matchAll(FENCE)].filter(([, label = '']) => !BESIDE.has(label))
  return blocks.length === 0 ? text : blocks.map((block) => block[3] ?? '').join('\n\n')
}

/** Reads the data blocks of a text, by label. The last one with a label counts. */
export const dataBlocks = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(FENCE)].map(([, label = '', , content = '']) => [label, content]))

/** Reads the entries of a bulleted list. A line that continues an entry belongs to it. */
export const bulletsIn = (text: string): string[] =>
  text
    .split(/^- /m)
    .map((entry) => entry.trim())
    .filter(Boolean)

/** Finds the first answered call of a tool (for a file, if one is given) and returns its answer. */
export const resultOf = (steps: readonly Step[], name: string, file?: string): string | undefined =>
  steps.find((step) => step.name === name && (file === undefined || step.args.target_file === file))?.result

export const call = (name: string, args: Record<string, unknown>): { name: string; args: Record<string, unknown> } => ({
  name,
  args,
})

/** Makes the call that ends a task. */
export const complete = (status: 'done' | 'not done', summary: string): Reply => ({
  calls: [call('task_complete', { status, summary })],
})
