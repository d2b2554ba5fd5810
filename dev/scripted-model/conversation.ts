/** The part of a chat-completions request that is looked at. */
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

/** What the model says next. */
export interface Reply {
  text?: string
  calls?: { name: string; args: Record<string, unknown> }[]
}

/** A tool call of the running chain with its answer. */
export interface Step {
  name: string
  args: Record<string, unknown>
  result: string
}

/** The request as the scripts read it: everything they decide on is here. */
export interface Conversation {
  tools: ReadonlySet<string>
  system: string
  /** The query of the running chain, data blocks unwrapped. */
  query: string
  /** The data blocks of the query by label. */
  data: ReadonlyMap<string, string>
  /** Finished pairs before it. */
  history: { user: string; assistant: string }[]
  /** Calls of the running chain in order. */
  steps: Step[]
}

const textOf = (message: WireMessage): string =>
  typeof message.content === 'string'
    ? message.content
    : (message.content ?? []).map((part) => part.text ?? '').join('')

/** Notices of the loop are no queries: the chain's query is the user message that no call of its own precedes. */
export function readConversation(request: ChatRequest): Conversation {
  const { messages } = request
  const firstCall = messages.findIndex(
    (message) => message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 0,
  )
  const before = firstCall < 0 ? messages : messages.slice(0, firstCall)
  const queryAt = before.findLastIndex((message) => message.role === 'user')
  const asked = queryAt < 0 ? '' : textOf(before[queryAt] as WireMessage)
  return {
    tools: new Set((request.tools ?? []).map((tool) => tool.function.name)),
    system: messages
      .filter((message) => message.role === 'system')
      .map(textOf)
      .join('\n'),
    query: unwrap(asked),
    data: dataBlocks(asked),
    history: pairs(before.slice(0, Math.max(queryAt, 0))),
    steps: stepsOf(messages.slice(queryAt + 1)),
  }
}

function pairs(messages: readonly WireMessage[]): { user: string; assistant: string }[] {
  const found: { user: string; assistant: string }[] = []
  for (const [index, message] of messages.entries()) {
    const next = messages[index + 1]
    if (message.role === 'user' && next?.role === 'assistant')
      found.push({ user: unwrap(textOf(message)), assistant: textOf(next) })
  }
  return found
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

/** Blocks that come with a task: what the repository holds, not what is asked. */
const BESIDE = new Set(['repository files', 'relevant files', 'blocks of the repository', 'provider schema'])

/** The content of fenced data blocks; text without any is taken as it is. */
function unwrap(text: string): string {
  const blocks = [...text.matchAll(FENCE)].filter(([, label = '']) => !BESIDE.has(label))
  return blocks.length === 0 ? text : blocks.map((block) => block[3] ?? '').join('\n\n')
}

/** Fenced data blocks by their label; of two with one label the last. */
export const dataBlocks = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(FENCE)].map(([, label = '', , content = '']) => [label, content]))

/** Entries of a bulleted list, the bullet's continuation lines with it. */
export const bulletsIn = (text: string): string[] =>
  text
    .split(/^- /m)
    .map((entry) => entry.trim())
    .filter(Boolean)

/** The first answered call of that name (and file). */
export const resultOf = (steps: readonly Step[], name: string, file?: string): string | undefined =>
  steps.find((step) => step.name === name && (file === undefined || step.args.target_file === file))?.result

export const call = (name: string, args: Record<string, unknown>): { name: string; args: Record<string, unknown> } => ({
  name,
  args,
})
