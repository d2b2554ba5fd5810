import { PlatformError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { cutMiddle } from '../base/text.ts'
import type { Message } from '../llm/inference.ts'
import type { Tool } from './agent-request.ts'
import type { CallMemory } from './call-memory.ts'
import type { ContextBudget } from './context-budget.ts'

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
 * @returns the same number of messages, with the same roles and calls, and the calls whose result was cut
 */
export function fitMessages(
  messages: readonly Message[],
  queries: readonly number[],
  budget: ContextBudget,
): { messages: Message[]; cut: string[] } {
  const fitted = { messages: [...messages], cut: [] }
  const state: State = { ...fitted, budget, total: estimateMessages(messages, budget) }
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
  messages: Message[]
  cut: string[]
  budget: ContextBudget
  total: number
}

/** Shortens the messages at the indexes, in their order, until the estimated total reaches the goal. */
function shrink(state: State, goal: number, indexes: readonly number[], shorten: (message: Message) => Message): void {
  const { messages, cut, budget } = state
  for (const index of indexes) {
    if (state.total <= goal) return
    const message = messages[index]
    if (!message) continue
    const shorter = shorten(message)
    const saved = estimateMessage(message, budget.estimate) - estimateMessage(shorter, budget.estimate)
    if (saved <= 0) continue
    messages[index] = shorter
    state.total -= saved
    if (shorter.role === 'tool' && !cut.includes(shorter.tool_call_id)) cut.push(shorter.tool_call_id)
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
  const cutTexts = (_: string, item: unknown) => (typeof item === 'string' ? cutMiddle(item, LIMITS.argument) : item)
  const short = JSON.stringify(parseJson(text), cutTexts) ?? '{}'
  return short.length < text.length ? short : '{}'
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

/**
 * Keeps the messages of one chain within the input limit of its model; without a budget they stay whole.
 * @param queries those of `fitMessages`
 */
export function createFitting(
  budget: ContextBudget | undefined,
  queries: readonly number[],
  memory: Pick<CallMemory, 'forget'>,
) {
  let limit = budget?.tokens ?? Number.POSITIVE_INFINITY
  /** Shortens the messages in place until they fit, and reports a change; calls whose result was cut may be repeated. */
  const shorten = (messages: Message[], tools: readonly Tool[]): boolean => {
    if (!budget) return false
    const before = [...messages]
    const tokens = limit - estimateTools(tools, budget)
    const fitted = fitMessages(messages, queries, { ...budget, tokens })
    messages.splice(0, messages.length, ...fitted.messages)
    for (const id of fitted.cut) memory.forget(id)
    return messages.some((message, index) => message !== before[index])
  }
  return {
    shorten,
    /**
     * Calls the model, and again with shorter messages while the provider reports that they are too long: what a
     * server counts may be far from the estimate, and the texts of some do not tell the limit.
     */
    call: async <Reply>(messages: Message[], tools: readonly Tool[], ask: () => Promise<Reply>): Promise<Reply> => {
      for (let shortened = 0; ; shortened++)
        try {
          return await ask()
        } catch (error) {
          if (!budget || shortened === MAX_SHORTENINGS || !isOverlong(error)) throw error
          limit = (estimateMessages(messages, budget) + estimateTools(tools, budget)) * shareToKeep(error.message)
          if (!shorten(messages, tools)) throw error
        }
    },
  }
}

/** Maximum calls that are repeated with shorter messages. */
const MAX_SHORTENINGS = 3

const estimateTools = (tools: readonly Tool[], { estimate }: ContextBudget): number =>
  tools.reduce((total, { definition }) => total + estimate(JSON.stringify(definition)), 0)

/** What errors about a prompt that is too long have in common: what is measured, and that it is too much. */
const MEASURED = /context|prompt|input|message|sequence|conversation|token|request/i
const TOO_MUCH =
  /exceed|overflow|too[ _](long|large|many|big)|(long|larg|great)er than|not enough|maximum|reduce|shorter|must be <=/i
const NOT_OVERLONG = /rate.?limit|quota|thrott|per (minute|day|second)|please wait|try again later/i
const STATUSES = new Set([400, 413, 422, 500, 502])

/** True if a model call failed because its input was too long. */
export function isOverlong(error: unknown): error is PlatformError {
  if (!(error instanceof PlatformError) || error.code !== 'InferenceCallAPIError' || !STATUSES.has(error.status))
    return false
  return (
    error.status === 413 ||
    (!NOT_OVERLONG.test(error.message) && MEASURED.test(error.message) && TOO_MUCH.test(error.message))
  )
}

const NUMBER = /(?<![\w.,/-])(?:\d{1,3}(?:,\d{3})+|\d{4,9})(?![\w/-])/g

/** Returns the share to keep, 0.1 to 0.7: a limit of 100,000 and a length of 150,000 give 0.6. */
export function shareToKeep(text: string): number {
  const numbers = [...text.matchAll(NUMBER)].map(([number]) => Number(number.replaceAll(',', ''))).sort((a, b) => b - a)
  const [largest = 1, second = largest] = numbers
  return Math.min(0.7, Math.max(0.1, (second / largest) * 0.9))
}
