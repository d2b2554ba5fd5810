import { cutMiddle } from '../base/text.ts'
import type { Message } from '../llm/inference.ts'
import type { ContextBudget } from './context-budget.ts'

export interface Fitted {
  /** The same number of messages, with the same roles and calls. */
  messages: Message[]
  /** Calls whose result was cut. */
  cut: string[]
}

/** Tokens of one message besides its texts: role, names and separators. */
const OVERHEAD = 8
/** Share of the budget that cutting leaves, so that the next calls cut nothing and the provider's cache works. */
const LOW_WATER = 0.8

export const estimateMessages = (messages: readonly Message[], { estimate }: Pick<ContextBudget, 'estimate'>): number =>
  messages.reduce((total, message) => total + estimateMessage(message, estimate), 0)

function estimateMessage(message: Message, estimate: ContextBudget['estimate']): number {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
  const carried = message.role === 'assistant' && message.carry ? estimate(JSON.stringify(message.carry.data) ?? '') : 0
  const called = calls.reduce((total, call) => total + OVERHEAD + estimate(call.name) + estimate(call.arguments), 0)
  return OVERHEAD + (message.content === null ? 0 : estimate(message.content)) + called + carried
}

/** Lengths, in UTF-16 units, to which the steps of the cutting shorten a text. */
const LIMITS = {
  result: 2_000,
  turn: 400,
  argument: 400,
  oldResult: 200,
  oldTurn: 60,
  text: 400,
  query: 1_000,
} as const
const NEW_RESULT = [50_000, 10_000, 2_000, 200] as const

/**
 * Shortens messages until they fit, least valuable first: old tool results, earlier turns, old arguments, data of
 * earlier queries, and last the newest results and the data of the present query. Markers show the gaps. The system
 * prompt stays whole, and no message is removed, so that every call keeps its result.
 * @param queries indexes of the chain's queries: earlier turns precede the first, and the last is the present one
 * @param budget.tokens for the messages alone
 */
export function fitMessages(messages: readonly Message[], queries: readonly number[], budget: ContextBudget): Fitted {
  const fitted: Fitted = { messages: [...messages], cut: [] }
  const state = { fitted, budget, total: estimateMessages(messages, budget) }
  if (state.total <= budget.tokens) return fitted
  const goal = budget.tokens * LOW_WATER
  const newest = findNewestCalls(messages)
  const indexes = messages.map((_, index) => index)
  const [first = 0] = queries
  const old = indexes.filter((index) => index > first && index < newest && !queries.includes(index))
  const turns = indexes.filter((index) => index < first && messages[index]?.role !== 'system')
  const results = (list: readonly number[]) => list.filter((index) => messages[index]?.role === 'tool')
  const last = results(indexes.filter((index) => index > newest))
  shrink(state, goal, results(old), (message) => cutContent(message, LIMITS.result))
  shrink(state, goal, turns, (message) => cutContent(message, LIMITS.turn))
  shrink(state, goal, old, cutArguments)
  shrink(state, goal, results(old), (message) => cutContent(message, LIMITS.oldResult))
  shrink(state, goal, queries.slice(0, -1), (message) => cutQuery(message, state.total - goal))
  for (const limit of NEW_RESULT) shrink(state, budget.tokens, last, (message) => cutContent(message, limit))
  shrink(state, budget.tokens, [...turns, ...old], (message) => cutContent(message, LIMITS.oldTurn))
  shrink(state, budget.tokens, [...old, newest], (message) => cutContent(cutArguments(message), LIMITS.text))
  shrink(state, budget.tokens, queries.slice(-1), (message) => cutQuery(message, state.total - budget.tokens))
  return fitted
}

/** Returns the index of the last message with tool calls; the number of messages when there is none. */
function findNewestCalls(messages: readonly Message[]): number {
  const index = messages.findLastIndex(
    (message) => message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 0,
  )
  return index < 0 ? messages.length : index
}

interface State {
  fitted: Fitted
  budget: ContextBudget
  total: number
}

/** Shortens the messages at the indexes, in their order, until the estimated total reaches the goal. */
function shrink(state: State, goal: number, indexes: readonly number[], shorten: (message: Message) => Message): void {
  const { fitted, budget } = state
  for (const index of indexes) {
    if (state.total <= goal) return
    const message = fitted.messages[index]
    if (!message) continue
    const shorter = shorten(message)
    const saved = estimateMessage(message, budget.estimate) - estimateMessage(shorter, budget.estimate)
    if (saved <= 0) continue
    fitted.messages[index] = shorter
    state.total -= saved
    if (shorter.role === 'tool' && !fitted.cut.includes(shorter.tool_call_id)) fitted.cut.push(shorter.tool_call_id)
  }
}

function cutContent(message: Message, limit: number): Message {
  if (message.content === null || message.content.length <= limit) return message
  const content = cutMiddle(message.content, limit)
  if (message.role !== 'assistant') return { ...message, content }
  // A signature of the provider is removed, because it holds for the whole text only.
  const { carry: _, ...unsigned } = message
  return { ...unsigned, content }
}

/** Cuts long texts inside the arguments of calls, so that the arguments stay valid JSON. */
function cutArguments(message: Message): Message {
  if (message.role !== 'assistant' || !message.tool_calls?.some((call) => call.arguments.length > LIMITS.argument))
    return message
  const toolCalls = message.tool_calls.map((call) => ({ ...call, arguments: shortenArguments(call.arguments) }))
  const { carry: _, ...unsigned } = message
  return { ...unsigned, tool_calls: toolCalls }
}

function shortenArguments(text: string): string {
  if (text.length <= LIMITS.argument) return text
  try {
    const value: unknown = JSON.parse(text)
    const short = JSON.stringify(value, (_, item: unknown) =>
      typeof item === 'string' ? cutMiddle(item, LIMITS.argument) : item,
    )
    return short.length < text.length ? short : '{}'
  } catch {
    return '{}'
  }
}

/** @param excess tokens over the limit; four characters are cut for each */
function cutQuery(message: Message, excess: number): Message {
  const { content } = message
  if (content === null) return message
  return { ...message, content: cutData(content, Math.max(LIMITS.query, content.length - Math.ceil(excess * 4) - 100)) }
}

const BLOCK = /<<<DATA [^\n]* ([0-9a-f]{16})\n([\s\S]*?)\n\1 DATA>>>/g
/** Maximum length, in UTF-16 units, of the marker for cut text. */
const MARKER = 48

/** Cuts the data blocks of a query in the middle, longest first, to `max` UTF-16 units if possible. */
function cutData(text: string, max: number): string {
  if (text.length <= max) return text
  const blocks = [...text.matchAll(BLOCK)].map(({ 2: content = '', index, 0: whole }) => ({
    start: index + whole.indexOf('\n') + 1,
    content,
    keep: content.length,
  }))
  if (blocks.length === 0) return cutMiddle(text, Math.max(0, max - MARKER))
  let excess = text.length - max
  while (excess > 0) {
    const longest = blocks.reduce((a, b) => (b.keep > a.keep ? b : a))
    if (longest.keep === 0) break
    const uncut = longest.keep === longest.content.length
    const next = Math.max(...blocks.filter((block) => block !== longest).map(({ keep }) => keep), 0)
    // A block is cut to the length of the next longest at most, so that several long blocks lose about the same.
    const down = Math.min(excess + (uncut ? MARKER : 0), Math.max(longest.keep - next, Math.ceil(longest.keep / 10)))
    longest.keep = Math.max(0, longest.keep - down)
    excess -= down - (uncut ? MARKER : 0)
  }
  let result = ''
  let reached = 0
  for (const { start, content, keep } of blocks) {
    result += text.slice(reached, start) + cutMiddle(content, keep)
    reached = start + content.length
  }
  return result + text.slice(reached)
}
