import { isJsonObject, type Json, parseJson } from '../../src/base/json.ts'
import type { ChatMessage, ChatTool } from '../chat-completions.ts'

/** The part of a request that the scripted model reads. */
export interface Question {
  /** The name of the model that is asked. */
  model: string
  /** True if the answer is to come in pieces. */
  stream: boolean
  messages: readonly ChatMessage[]
  tools: readonly Pick<ChatTool, 'name'>[]
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

/**
 * Reads a request. The loop also sends notices as user messages, so the query of the current chain is the user message
 * before its first tool call. A continued chain has a new query: the user message after the last answer without a call
 * that follows the result of a tool.
 */
export function readConversation({ messages, tools }: Pick<Question, 'messages' | 'tools'>): Conversation {
  const ended = messages.findLastIndex(
    ({ role, calls }, at) => role === 'assistant' && calls.length === 0 && messages[at - 1]?.role === 'tool',
  )
  const firstCall = messages.findIndex(({ role, calls }, at) => at > ended && role === 'assistant' && calls.length > 0)
  const before = firstCall < 0 ? messages : messages.slice(0, firstCall)
  const queryAt = before.findLastIndex((message) => message.role === 'user')
  const query = before[queryAt]?.text ?? ''
  const rules = messages.filter(({ role }) => role === 'system')
  return {
    tools: new Set(tools.map(({ name }) => name)),
    system: rules.map(({ text }) => text).join('\n'),
    query: unwrap(query),
    data: dataBlocks(query),
    history: readPairs(before.slice(0, Math.max(queryAt, 0))),
    steps: stepsOf(messages.slice(queryAt + 1)),
  }
}

/** Lists every query with the text of its answer, without the calls between them. */
function readPairs(messages: readonly ChatMessage[]): Conversation['history'] {
  return messages.flatMap(({ role: asking, text }, index) => {
    const next = messages.slice(index + 1).find(({ role, calls }) => role !== 'tool' && calls.length === 0)
    if (asking !== 'user' || next?.role !== 'assistant') return []
    return [{ user: unwrap(text ?? ''), assistant: next.text ?? '' }]
  })
}

function stepsOf(messages: readonly ChatMessage[]): Step[] {
  const results = new Map(messages.map(({ answers, text }) => [answers, text]))
  return messages
    .flatMap(({ calls }) => calls)
    .map(({ id, name, arguments: text }) => {
      const args = parseJson(text)
      return { name, args: isJsonObject(args) ? args : {}, result: unwrap(results.get(id) ?? '') }
    })
}

const FENCE = /<<<DATA ([^\n]*?) ([0-9a-f]{16})\n([\s\S]*?)\n\2 DATA>>>/g

/** Labels of blocks that accompany a task and describe the repository. */
const BESIDE = new Set([
  'repository files',
  'relevant files',
  'blocks of the repository',
  'files of the repository',
  'repository',
  'provider schema',
  'changes of this session',
  'branch diff',
  'judgement',
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

/** Reads the JSON between the first and the last bracket of a text; undefined if there is none. */
export const jsonIn = (text: string, open: '[' | '{'): Json | undefined =>
  parseJson(text.slice(text.indexOf(open), text.lastIndexOf(open === '[' ? ']' : '}') + 1))

/** Finds the first answered call of a tool (for a file, if one is given) and returns its answer. */
export const resultOf = (steps: readonly Step[], name: string, file?: string): string | undefined =>
  steps.find((step) => step.name === name && (file === undefined || step.args.target_file === file))?.result

export const call = (name: string, args: Record<string, unknown>) => ({ name, args })

/** Makes a reply of one call. */
export const oneCall = (name: string, args: Record<string, unknown>) => ({ calls: [call(name, args)] })

export const listRoot = oneCall('list_dir', { relative_workspace_path: '.' })

export const readFiles = (files: readonly string[]) => ({
  calls: files.map((targetFile) => call('read_file', { target_file: targetFile })),
})

/** Makes the call that ends a task. */
export const complete = (status: 'done' | 'not done', summary: string, assumptions: readonly string[] = []): Reply =>
  oneCall('task_complete', { status, summary, ...(assumptions.length > 0 && { assumptions }) })

/** True if the query shows findings of the engine, in the form of the platform or in the engine's own words. */
export const isRefusal = ({ query, data }: Pick<Conversation, 'query' | 'data'>): boolean =>
  data.has('findings') || /^\s*[│|]?\s*Error:/m.test(query)

export const unknownRefusal = complete(
  'not done',
  'The scripted model has no recording for this diagnostic of the engine.',
)
